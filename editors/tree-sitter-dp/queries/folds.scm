[(value_definition) (type_definition) (match_expression) (each) (array) (record)] @fold
