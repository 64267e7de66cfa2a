/* Runs a fuzz target on stored inputs:
 *
 *     fuzz_csv FILE|FOLDER... */
#include "fuzz.h"

#include <dirent.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

static unsigned inputs;

/* Exactly as many bytes as the file has, so that a sanitizer sees a look behind them. */
static int run_file(const char *path)
{
    struct stat info;
    FILE *in = fopen(path, "rb");
    if (!in || fstat(fileno(in), &info) != 0) {
        perror(path);
        return 2;
    }
    size_t n = (size_t)info.st_size;
    uint8_t *bytes = malloc(n ? n : 1);
    bool ok = bytes && fread(bytes, 1, n, in) == n;
    fclose(in);
    if (ok) {
        /* the name, in case that it does not come back */
        fprintf(stderr, "%s\r", path);
        LLVMFuzzerTestOneInput(bytes, n);
        inputs++;
    }
    free(bytes);
    return ok ? 0 : 2;
}

static int run_folder(const char *path, DIR *folder)
{
    int status = 0;
    for (struct dirent *entry; (entry = readdir(folder));) {
        char name[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        status |= run_file(name);
    }
    closedir(folder);
    return status;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        status |= folder ? run_folder(argv[i], folder) : run_file(argv[i]);
    }
    fprintf(stderr, "\n");
    printf("%u inputs\n", inputs);
    return status ? status : inputs == 0; /* a corpus that is not there shows nothing */
}
