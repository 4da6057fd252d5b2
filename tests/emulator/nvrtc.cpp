// nvrtc.cpp: in place of NVRTC (KEDGE_NVRTC): kernels are compiled as C++ into libraries, which
// compiled.cpp loads. The machine code of a program is a word, its size and the library.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <unistd.h>

namespace
{

struct program {
  std::string source, folder, log, image;
};

/// What NVRTC knows and C++ does not, and what the sources define for themselves with PTX.
const char before[] =
    "#include <cuda_pipeline.h>\n"
    "#define KG_SHARED(type, name) type *const name = (type *)::emulated::shared_memory()\n"
    "template <class T>\n"
    "inline void copy_async(T *to, const T *from)\n"
    "{\n"
    "  emulated::copy_async(to, from, sizeof(T));\n"
    "}\n"
    "inline void copies_commit()\n"
    "{\n"
    "  emulated::commit_copies();\n"
    "}\n"
    "template <int LEFT>\n"
    "inline void copies_wait()\n"
    "{\n"
    "  emulated::wait_for_copies(LEFT);\n"
    "}\n"
    "inline void prefetch(const void *, unsigned)\n"
    "{\n"
    "}\n"
    "template <class... P, size_t... I>\n"
    "void call_with(void (*kernel)(P...), void **a, std::index_sequence<I...>)\n"
    "{\n"
    "  kernel(*(std::remove_const_t<P> *)a[I]...);\n"
    "}\n"
    "template <class... P>\n"
    "void call_kernel(void (*kernel)(P...), void **arguments)\n"
    "{\n"
    "  call_with(kernel, arguments, std::index_sequence_for<P...>());\n"
    "}\n";

/// For each kernel a function that takes addresses of its arguments.
std::string calls(const std::string &source)
{
  static const std::regex kernel(
      "extern \"C\" __global__ void\\s+__launch_bounds__\\([^)]*\\)\\s+(\\w+)\\(");
  std::string text;
  for (auto i = std::sregex_iterator(source.begin(), source.end(), kernel);
       i != std::sregex_iterator(); ++i)
    text += "\nextern \"C\" void call_" + i->str(1) + "(void **a)\n{\n  call_kernel(" + i->str(1) +
            ", a);\n}\n";
  return text;
}

}  // namespace

extern "C" {

const char *nvrtcGetErrorString(int)
{
  return "the emulated compiler failed";
}

int nvrtcCreateProgram(void **out, const char *source, const char *, int, const char *const *,
                       const char *const *)
{
  char folder[] = "/tmp/kedge_emulated_XXXXXX";
  if (!mkdtemp(folder)) return 1;
  *out = new program{source, folder, "", ""};
  return 0;
}

int nvrtcDestroyProgram(void **out)
{
  program *const p = (program *)*out;
  std::filesystem::remove_all(p->folder);
  delete p;
  *out = nullptr;
  return 0;
}

int nvrtcCompileProgram(void *of, int, const char *const *)
{
  program *const p = (program *)of;
  const std::string at = p->folder + "/kernel";
  std::ofstream(at + ".cpp") << before << p->source << calls(p->source);
  const std::string command =
      KEDGE_EMULATED_COMPILE " -o " + at + ".so " + at + ".cpp 2> " + at + ".log";
  if (system(command.c_str()) == 0) {
    std::ifstream library(at + ".so", std::ios::binary);
    const std::string code(std::istreambuf_iterator<char>(library), {});
    const uint64_t size = code.size();
    p->image = "emulated" + std::string((const char *)&size, sizeof size) + code;
    return 0;
  }
  std::ifstream log(at + ".log");
  for (std::string line; p->log.empty() && std::getline(log, line);)
    if (line.find("error") != std::string::npos) p->log = line;
  return 6;
}

int nvrtcGetProgramLogSize(void *of, size_t *bytes)
{
  *bytes = ((program *)of)->log.size() + 1;
  return 0;
}

int nvrtcGetProgramLog(void *of, char *text)
{
  strcpy(text, ((program *)of)->log.c_str());
  return 0;
}

int nvrtcGetCUBINSize(void *of, size_t *bytes)
{
  *bytes = ((program *)of)->image.size();
  return 0;
}

int nvrtcGetCUBIN(void *of, char *image)
{
  memcpy(image, ((program *)of)->image.data(), ((program *)of)->image.size());
  return 0;
}

}  // extern "C"
