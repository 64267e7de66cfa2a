/* The exit statuses, of dpc and of the executables it makes; docs/tools.md has the table for users. */
#ifndef DP_STATUS_H
#define DP_STATUS_H

#include <errno.h>

typedef enum ExitStatus {
    EXIT_OK = 0,
    EXIT_PROGRAM = 1, /* the program's own error, a failing test */
    EXIT_USAGE = 2,   /* usage or compile error, input that cannot be read */
    EXIT_MEMORY = 3,  /* of the host or the device */
    EXIT_DEVICE = 4,
    EXIT_OUTPUT = 5, /* a result that cannot be written */
    EXIT_TIME = 6    /* --timeout */
} ExitStatus;

/* The status for a value that dp_read_file and the like could not read: they leave its kind in errno. */
static inline ExitStatus dp_read_status(void) { return errno == ENOMEM ? EXIT_MEMORY : EXIT_USAGE; }
/* Likewise for dp_write_file and dp_output.h: EINVAL is a value that the file's format cannot hold. */
static inline ExitStatus dp_write_status(void)
{
    return errno == ENOMEM ? EXIT_MEMORY : errno == EINVAL ? EXIT_USAGE : EXIT_OUTPUT;
}

#endif
