# The extension for Visual Studio Code as one file, which `code --install-extension` takes: a zip with the manifest that
# the editor wants around the folder, without npm. node_modules, where `npm install` has been called, comes along.
#
#   cmake -DSOURCE=editors/vscode -DLICENSE=LICENSE -DOUTPUT=dp.vsix -P vsix.cmake
file(READ ${SOURCE}/package.json package)
function(field name result)
  string(REGEX MATCH "\n  \"${name}\": \"([^\"]*)\"" found "${package}")
  set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()
field(name name)
field(displayName shown)
field(description description)
field(version version)
field(publisher publisher)
string(REGEX MATCH "\"vscode\": \"([^\"]*)\"" found "${package}")
set(engine "${CMAKE_MATCH_1}")

set(folder ${OUTPUT}.folder)
file(REMOVE_RECURSE ${folder})
file(COPY ${SOURCE}/ DESTINATION ${folder}/extension PATTERN "package-lock.json" EXCLUDE PATTERN ".*ignore" EXCLUDE)
file(COPY ${LICENSE} DESTINATION ${folder}/extension)
file(RENAME ${folder}/extension/LICENSE ${folder}/extension/LICENSE.txt)
file(WRITE ${folder}/extension.vsixmanifest "<?xml version=\"1.0\" encoding=\"utf-8\"?>
<PackageManifest Version=\"2.0.0\" xmlns=\"http://schemas.microsoft.com/developer/vsx-schema/2011\">
  <Metadata>
    <Identity Language=\"en-US\" Id=\"${name}\" Version=\"${version}\" Publisher=\"${publisher}\"/>
    <DisplayName>${shown}</DisplayName>
    <Description xml:space=\"preserve\">${description}</Description>
    <Categories>Programming Languages</Categories>
    <GalleryFlags>Public</GalleryFlags>
    <Properties>
      <Property Id=\"Microsoft.VisualStudio.Code.Engine\" Value=\"${engine}\"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
  </Metadata>
  <Installation>
    <InstallationTarget Id=\"Microsoft.VisualStudio.Code\"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type=\"Microsoft.VisualStudio.Code.Manifest\" Path=\"extension/package.json\" Addressable=\"true\"/>
    <Asset Type=\"Microsoft.VisualStudio.Services.Content.License\" Path=\"extension/LICENSE.txt\" Addressable=\"true\"/>
  </Assets>
</PackageManifest>
")
file(WRITE "${folder}/[Content_Types].xml" "<?xml version=\"1.0\" encoding=\"utf-8\"?>
<Types xmlns=\"http://schemas.openxmlformats.org/package/2006/content-types\">
  <Default Extension=\".json\" ContentType=\"application/json\"/>
  <Default Extension=\".vsixmanifest\" ContentType=\"text/xml\"/>
  <Default Extension=\".js\" ContentType=\"application/javascript\"/>
  <Default Extension=\".txt\" ContentType=\"text/plain\"/>
</Types>
")
execute_process(COMMAND ${CMAKE_COMMAND} -E tar cf ${OUTPUT} --format=zip extension.vsixmanifest "[Content_Types].xml" extension
                WORKING_DIRECTORY ${folder} RESULT_VARIABLE status)
file(REMOVE_RECURSE ${folder})
if(status)
  message(FATAL_ERROR "the zip ${OUTPUT} cannot be made: ${status}")
endif()
