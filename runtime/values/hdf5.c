/* HDF5 files (.h5): the datasets of the root group, each an array. With libhdf5, where dpc was built with its header;
 * it is loaded when the first such file is met, as it brings some thirty other libraries with it.
 *
 * Only what stands in the file itself is read: no links to other files, no datasets made of them, no filters that would
 * have to be loaded. Written are contiguous datasets without times, so that equal values give equal files. */
#include "values.h"

#ifdef DPC_HAVE_HDF5

#define H5_USE_110_API
#include <hdf5.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define FUNCTIONS(F) \
    F(H5dont_atexit) F(H5open) F(H5Eset_auto2) F(H5PLset_loading_state) F(H5Pcreate) F(H5Pclose) F(H5Pset_fapl_core) \
    F(H5Pset_file_image) F(H5Pset_link_creation_order) F(H5Pget_link_creation_order) F(H5Pset_obj_track_times) \
    F(H5Pget_external_count) F(H5Pget_layout) F(H5Pget_chunk) F(H5Fopen) F(H5Fcreate) F(H5Fflush) F(H5Fclose) \
    F(H5Fget_create_plist) F(H5Fget_file_image) F(H5Gget_info) F(H5Lget_info) F(H5Lexists) F(H5Lget_name_by_idx) \
    F(H5Dopen2) F(H5Dcreate2) F(H5Dclose) F(H5Dread) F(H5Dwrite) F(H5Dget_space) F(H5Dget_type) \
    F(H5Dget_create_plist) F(H5Screate) F(H5Screate_simple) F(H5Sclose) F(H5Sget_simple_extent_type) \
    F(H5Sget_simple_extent_ndims) F(H5Sget_simple_extent_dims) F(H5Tget_class) F(H5Tget_size) F(H5Tget_sign) \
    F(H5Tenum_create) F(H5Tenum_insert) F(H5Tclose)
/* clang-format on */

/* As in the library, but to be called behind api->. */
#define POINTER(f) __typeof__(&f) f;
typedef struct Api {
    FUNCTIONS(POINTER)
    void *library;
} Api;

/* As H5F_ACC_RDONLY and H5F_ACC_TRUNC, whose macros call the library. */
enum { READ_ONLY = 0, TRUNCATE = 2, NAME_BYTES = 256 };

typedef struct File {
    DpArchive archive; /* first */
    Api api;
    hid_t file, dataset; /* dataset: found last, or H5I_INVALID_HID */
    uint64_t bytes;
    bool by_creation;      /* its members are in the order in which they were made */
    char name[NAME_BYTES]; /* of the dataset */
} File;

static const char *const native_names[DP_SCALAR_COUNT] = {
    "H5T_NATIVE_INT8_g",   "H5T_NATIVE_INT8_g",  "H5T_NATIVE_INT16_g",  "H5T_NATIVE_INT32_g",
    "H5T_NATIVE_INT64_g",  "H5T_NATIVE_UINT8_g", "H5T_NATIVE_UINT16_g", "H5T_NATIVE_UINT32_g",
    "H5T_NATIVE_UINT64_g", "H5T_NATIVE_FLOAT_g", "H5T_NATIVE_DOUBLE_g"};

#define NAME_OF(f) #f
#define NAME(f) NAME_OF(f)

/* Functions by way of memcpy, as C has no conversion from pointers to data. */
static bool find_function(void *library, const char *name, void *to)
{
    void *at = dlsym(library, name);
    memcpy(to, &at, sizeof at);
    return at;
}

static bool load(Api *api, const char *path, DpError e)
{
    api->library = dlopen(DPC_HDF5_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!api->library)
        return dp_error(e, "%s%sHDF5 files need the library %s, which is not there", path, *path ? ": " : "",
                        DPC_HDF5_LIBRARY);
#define FIND(f)                                                                                                        \
    if (!find_function(api->library, NAME(f), &api->f))                                                                \
        return dp_error(e, "%s%s%s lacks the function %s", path, *path ? ": " : "", DPC_HDF5_LIBRARY, NAME(f));
    FUNCTIONS(FIND)
    api->H5dont_atexit();
    api->H5open();
    api->H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    api->H5PLset_loading_state(0);
    return true;
}

/* One of the library's own types and classes, which it names by variables. */
static hid_t own(const Api *api, const char *name)
{
    const hid_t *id = dlsym(api->library, name);
    return id ? *id : H5I_INVALID_HID;
}

static bool fail(const File *f, const char *what)
{
    return dp_error(f->archive.error, "%s: not a valid .h5 file: %s", f->archive.path, what);
}

/* A file in memory: of these bytes, or with NULL empty. */
static hid_t memory_access(const Api *api, const char *bytes, size_t n)
{
    hid_t access = api->H5Pcreate(own(api, "H5P_CLS_FILE_ACCESS_ID_g"));
    bool ok = access >= 0 && api->H5Pset_fapl_core(access, 1 << 20, 0) >= 0 &&
              (!bytes || api->H5Pset_file_image(access, (void *)(uintptr_t)bytes, n) >= 0);
    if (!ok && access >= 0)
        api->H5Pclose(access);
    return ok ? access : H5I_INVALID_HID;
}

/* ---- members ---- */

/* The dataset of this name, which stands in the file itself; *dataset < 0: the name is not one's. */
static bool open_dataset(const File *f, const char *name, hid_t *dataset)
{
    H5L_info_t link;
    *dataset = H5I_INVALID_HID;
    if (f->api.H5Lexists(f->file, name, H5P_DEFAULT) <= 0)
        return true;
    if (f->api.H5Lget_info(f->file, name, &link, H5P_DEFAULT) < 0)
        return fail(f, "a link is damaged");
    if (link.type == H5L_TYPE_HARD)
        *dataset = f->api.H5Dopen2(f->file, name, H5P_DEFAULT); /* fails for groups */
    return true;
}

static bool name_at(const File *f, hsize_t i, char name[NAME_BYTES])
{
    ssize_t n = f->api.H5Lget_name_by_idx(f->file, ".", f->by_creation ? H5_INDEX_CRT_ORDER : H5_INDEX_NAME,
                                          H5_ITER_INC, i, name, NAME_BYTES, H5P_DEFAULT);
    if (n < 0)
        return fail(f, "its root group is damaged");
    return n < NAME_BYTES || fail(f, "a name is longer than 255 bytes");
}

static void close_dataset(File *f)
{
    if (f->dataset >= 0)
        f->api.H5Dclose(f->dataset);
    f->dataset = H5I_INVALID_HID;
}

/* Dataset number `index` of the root group's members; *count: of these, up to there. */
static bool find_number(File *f, uint32_t index, uint32_t *count)
{
    H5G_info_t root;
    *count = 0;
    if (f->api.H5Gget_info(f->file, &root) < 0)
        return fail(f, "there is no root group");
    for (hsize_t i = 0; i < root.nlinks && *count <= index; i++) {
        close_dataset(f);
        if (!name_at(f, i, f->name) || !open_dataset(f, f->name, &f->dataset))
            return false;
        *count += f->dataset >= 0;
    }
    return true;
}

static bool find_member(DpArchive *a, const char *name, uint32_t index, bool *found)
{
    File *f = (File *)a;
    uint32_t count;
    close_dataset(f);
    if (name)
        snprintf(f->name, NAME_BYTES, "%s", name);
    if (name ? !open_dataset(f, name, &f->dataset) : !find_number(f, index, &count))
        return false;
    *found = f->dataset >= 0;
    return true;
}

/* ---- a dataset ---- */

static void describe_type(const Api *api, hid_t type, char out[NAME_BYTES])
{
    const H5T_class_t kind = api->H5Tget_class(type);
    const unsigned bits = (unsigned)(8 * api->H5Tget_size(type));
    if (kind == H5T_INTEGER)
        snprintf(out, NAME_BYTES, "%c%u", api->H5Tget_sign(type) == H5T_SGN_NONE ? 'u' : 'i', bits);
    else if (kind == H5T_FLOAT)
        snprintf(out, NAME_BYTES, "f%u", bits);
    else
        snprintf(out, NAME_BYTES, "%s", kind == H5T_STRING ? "texts" : kind == H5T_COMPOUND ? "records" : "others");
}

/* As they are written by dpc and h5py, bools are an enumeration of a byte; or a byte. */
static bool check_type(const File *f, hid_t type, DpScalar scalar)
{
    const H5T_class_t kind = f->api.H5Tget_class(type);
    const bool fits = f->api.H5Tget_size(type) == dp_scalar_bytes(scalar);
    char found[NAME_BYTES];
    if (fits && scalar == DP_BOOL && (kind == H5T_ENUM || kind == H5T_INTEGER))
        return true;
    if (fits && dp_scalar_is_float(scalar) && kind == H5T_FLOAT)
        return true;
    if (fits && scalar != DP_BOOL && kind == H5T_INTEGER &&
        (f->api.H5Tget_sign(type) == H5T_SGN_2) == (scalar >= DP_I8 && scalar <= DP_I64))
        return true;
    describe_type(&f->api, type, found);
    return dp_error(f->archive.error, "%s: dataset %s: expected elements of type %s, found %s", f->archive.path,
                    f->name, dp_scalar_name(scalar), found);
}

static bool find_shape(const File *f, hid_t space, uint32_t rank, uint64_t *shape)
{
    const int found = f->api.H5Sget_simple_extent_ndims(space);
    hsize_t dims[H5S_MAX_RANK];
    if (found < 0 || f->api.H5Sget_simple_extent_type(space) == H5S_NULL)
        return dp_error(f->archive.error, "%s: dataset %s has no elements and no shape", f->archive.path, f->name);
    if ((uint32_t)found != rank)
        return dp_error(f->archive.error, "%s: dataset %s: expected %u dimension%s, found %d", f->archive.path, f->name,
                        (unsigned)rank, rank == 1 ? "" : "s", found);
    if (f->api.H5Sget_simple_extent_dims(space, dims, NULL) < 0)
        return fail(f, "a shape is damaged");
    for (uint32_t i = 0; i < rank; i++)
        shape[i] = dims[i];
    return true;
}

/* Are the elements in this file, and are they as many as it can hold? Chunks are unpacked as a whole. */
static bool check_storage(const File *f, const uint64_t *shape, uint32_t rank, size_t element_bytes)
{
    const hid_t made = f->api.H5Dget_create_plist(f->dataset);
    const H5D_layout_t layout = f->api.H5Pget_layout(made);
    const bool elsewhere = layout == H5D_VIRTUAL || f->api.H5Pget_external_count(made) != 0;
    const uint64_t most = f->bytes / element_bytes * DP_DEFLATE_MOST;
    hsize_t chunk[H5S_MAX_RANK];
    uint64_t sizes[DP_MAX_RANK] = {0}, count;
    if (layout == H5D_CHUNKED && f->api.H5Pget_chunk(made, H5S_MAX_RANK, chunk) == (int)rank)
        for (uint32_t i = 0; i < rank; i++)
            sizes[i] = chunk[i];
    f->api.H5Pclose(made);
    if (elsewhere)
        return dp_error(f->archive.error, "%s: dataset %s: elements in other files are not read", f->archive.path,
                        f->name);
    return (dp_shape_plausible(shape, rank, 1, f->bytes, most, &count) &&
            (layout != H5D_CHUNKED || dp_shape_plausible(sizes, rank, 1, f->bytes, most, &count))) ||
           fail(f, "a shape is larger than the file");
}

static bool read_elements(const File *f, hid_t type, DpLeaf *leaf)
{
    const hid_t wanted = leaf->scalar == DP_BOOL ? type : own(&f->api, native_names[leaf->scalar]);
    if (leaf->ndata && f->api.H5Dread(f->dataset, wanted, H5S_ALL, H5S_ALL, H5P_DEFAULT, leaf->data) < 0)
        return fail(f, "the elements of a dataset are damaged, or packed in an unknown way");
    if (leaf->scalar == DP_BOOL)
        for (uint64_t i = 0; i < leaf->ndata; i++)
            ((uint8_t *)leaf->data)[i] = ((uint8_t *)leaf->data)[i] != 0;
    return true;
}

static bool read_member(DpArchive *a, const DpType *t, DpLeaf *leaf)
{
    const File *f = (const File *)a;
    DpScalar scalar = leaf->scalar;
    uint32_t rank = leaf->rank;
    uint64_t shape[DP_MAX_RANK];
    (void)t;
    const hid_t type = f->api.H5Dget_type(f->dataset), space = f->api.H5Dget_space(f->dataset);
    bool ok = (type >= 0 && space >= 0) || fail(f, "a dataset is damaged");
    ok = ok && check_type(f, type, scalar) && find_shape(f, space, rank, shape) &&
         check_storage(f, shape, rank, dp_scalar_bytes(scalar));
    ok = ok && (dp_leaf_make(leaf, shape) || dp_error_memory(a->error, a->path));
    ok = ok && read_elements(f, type, leaf);
    if (type >= 0)
        f->api.H5Tclose(type);
    if (space >= 0)
        f->api.H5Sclose(space);
    return ok;
}

/* ---- reading ---- */

static bool open_bytes(File *f, const char *bytes, size_t n)
{
    unsigned order = 0;
    if (!n)
        return fail(f, "it is empty");
    const hid_t access = memory_access(&f->api, bytes, n);
    if (access < 0)
        return dp_error_memory(f->archive.error, f->archive.path);
    f->file = f->api.H5Fopen("dpc.h5", READ_ONLY, access);
    f->api.H5Pclose(access);
    if (f->file < 0)
        return fail(f, "the signature or the superblock is wrong");
    const hid_t made = f->api.H5Fget_create_plist(f->file);
    f->by_creation = f->api.H5Pget_link_creation_order(made, &order) >= 0 && (order & H5P_CRT_ORDER_INDEXED);
    f->api.H5Pclose(made);
    return find_number(f, UINT32_MAX - 1, &f->archive.members);
}

bool dp_read_hdf5(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    File f = {.archive = {.path = path, .kind = ".h5", .error = e, .find = find_member, .read = read_member},
              .bytes = n,
              .file = H5I_INVALID_HID,
              .dataset = H5I_INVALID_HID};
    bool ok = dp_archive_takes(&f.archive, t, false) && load(&f.api, path, e) && open_bytes(&f, bytes, n) &&
              dp_archive_read(&f.archive, t, leaves);
    if (f.dataset >= 0)
        close_dataset(&f);
    if (f.file >= 0)
        f.api.H5Fclose(f.file);
    return ok;
}

/* ---- writing ---- */

static hid_t bool_type(const Api *api)
{
    const hid_t type = api->H5Tenum_create(own(api, native_names[DP_BOOL]));
    const int8_t no = 0, yes = 1;
    api->H5Tenum_insert(type, "FALSE", &no);
    api->H5Tenum_insert(type, "TRUE", &yes);
    return type;
}

static bool put_dataset(const File *f, const char *name, const DpLeaf *leaf, const uint64_t *shape)
{
    const Api *api = &f->api;
    hsize_t dims[DP_MAX_RANK];
    for (uint32_t i = 0; i < leaf->rank; i++)
        dims[i] = shape[i];
    const hid_t space = leaf->rank ? api->H5Screate_simple((int)leaf->rank, dims, NULL) : api->H5Screate(H5S_SCALAR);
    const hid_t type = leaf->scalar == DP_BOOL ? bool_type(api) : own(api, native_names[leaf->scalar]);
    const hid_t how = api->H5Pcreate(own(api, "H5P_CLS_DATASET_CREATE_ID_g"));
    api->H5Pset_obj_track_times(how, 0);
    const hid_t made = api->H5Dcreate2(f->file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    const bool ok =
        made >= 0 && (!leaf->ndata || api->H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, leaf->data) >= 0);
    if (made >= 0)
        api->H5Dclose(made);
    api->H5Pclose(how);
    if (leaf->scalar == DP_BOOL)
        api->H5Tclose(type);
    api->H5Sclose(space);
    return ok || dp_error_memory(f->archive.error, "");
}

static bool write_member(DpArchive *a, const char *name, const DpType *t, const DpLeaf *leaf)
{
    const File *f = (const File *)a;
    uint64_t shape[DP_MAX_RANK];
    (void)t;
    if (!dp_leaf_shape(leaf, shape))
        return dp_error(a->error, "a .h5 file holds regular arrays, but rows of the result differ in length");
    return dp_shape_writable(shape, leaf->rank, 1, leaf->ndata, "a .h5 file", a->error) &&
           put_dataset(f, name, leaf, shape);
}

/* Its members stay in the order in which they are made: arr_2 before arr_10. */
static bool create(File *f)
{
    const Api *api = &f->api;
    const hid_t access = memory_access(api, NULL, 0), how = api->H5Pcreate(own(api, "H5P_CLS_FILE_CREATE_ID_g"));
    if (access >= 0 && how >= 0 && api->H5Pset_obj_track_times(how, 0) >= 0 &&
        api->H5Pset_link_creation_order(how, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0)
        f->file = api->H5Fcreate("dpc.h5", TRUNCATE, how, access);
    if (access >= 0)
        api->H5Pclose(access);
    if (how >= 0)
        api->H5Pclose(how);
    return f->file >= 0 || dp_error_memory(f->archive.error, "");
}

static bool put_image(const File *f, FILE *out)
{
    f->api.H5Fflush(f->file, H5F_SCOPE_LOCAL);
    const ssize_t n = f->api.H5Fget_file_image(f->file, NULL, 0);
    char *bytes = n > 0 ? malloc((size_t)n) : NULL;
    const bool ok = bytes && f->api.H5Fget_file_image(f->file, bytes, (size_t)n) == n;
    if (ok)
        fwrite(bytes, 1, (size_t)n, out);
    free(bytes);
    return ok || dp_error_memory(f->archive.error, "");
}

bool dp_write_hdf5(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    File f = {.archive = {.kind = ".h5", .error = e, .write = write_member}, .file = H5I_INVALID_HID};
    bool ok = dp_archive_takes(&f.archive, t, true) && load(&f.api, "", e) && create(&f) &&
              dp_archive_write(&f.archive, t, leaves) && put_image(&f, out);
    if (f.file >= 0)
        f.api.H5Fclose(f.file);
    return ok;
}

#else

bool dp_read_hdf5(const char *path, const char *bytes, size_t n, const DpType *t, DpLeaf *leaves, DpError e)
{
    (void)bytes, (void)n, (void)t, (void)leaves;
    return dp_error(e, "%s: HDF5 files cannot be read: dpc was built without libhdf5", path);
}

bool dp_write_hdf5(FILE *out, const DpType *t, const DpLeaf *leaves, DpError e)
{
    (void)out, (void)t, (void)leaves;
    return dp_error(e, "HDF5 files cannot be written: dpc was built without libhdf5");
}

#endif
