// refused.c: functions of CUDA's runtime that a GPU without memory pools and cooperative launches
// is never asked for. Their parameters differ between versions of CUDA, so its header is not
// included.
enum { NOT_SUPPORTED = 801 };

#define REFUSED(name)     \
  int name(void);         \
  int name(void)          \
  {                       \
    return NOT_SUPPORTED; \
  }
REFUSED(name)
REFUSED(cudaLaunchCooperativeKernel)
REFUSED(cudaMemPoolCreate)
REFUSED(cudaMemPoolDestroy)
REFUSED(cudaMemPoolSetAttribute)
REFUSED(cudaMemPoolGetAttribute)
REFUSED(cudaMemPoolTrimTo)
REFUSED(cudaMallocFromPoolAsync)
REFUSED(cudaFreeAsync)
REFUSED(cudaLibraryGetGlobal)
