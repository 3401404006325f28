#include "tools/performance/peers.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <utility>

#include "tools/performance/peers/module.h"

namespace gemmc {
namespace {

namespace fs = std::filesystem;

// Opened libraries stay open: peers keep thread pools and tables that do not survive dlclose.
class SharedObject {
 public:
  // The first of `paths` that exists; the file name alone lets the loader search.
  static std::pair<SharedObject, std::string> open(const std::vector<fs::path>& paths) {
    std::string why = "not installed";
    for (const fs::path& path : paths) {
      if (path.has_parent_path() && !fs::exists(path)) continue;
      if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return {SharedObject(handle), ""};
      why = dlerror();
    }
    return {SharedObject(nullptr), why};
  }

  bool is_open() const { return handle_ != nullptr; }
  // Null where the symbol is absent.
  template <typename Function>
  Function symbol(const char* name) const {
    return reinterpret_cast<Function>(dlsym(handle_, name));
  }

 private:
  explicit SharedObject(void* handle) : handle_(handle) {}
  void* handle_;
};

// A library that is one function call per product: `call()` binds its arguments.
class FunctionPeer : public Peer {
 public:
  using Prepare = std::function<std::unique_ptr<Contender>(const Product&, const Operands&)>;
  FunctionPeer(std::string name, std::string version, Prepare prepare)
      : name_(std::move(name)), version_(std::move(version)), prepare_(std::move(prepare)) {}
  std::string name() const override { return name_; }
  std::string version() const override { return version_; }
  std::unique_ptr<Contender> prepare(const Product& product, const Operands& operands) override {
    return prepare_(product, operands);
  }

 private:
  std::string name_, version_;
  Prepare prepare_;
};

// `call(product, operands)` makes one product; inlined into the loop.
template <typename Call>
class CallContender : public Contender {
 public:
  CallContender(const Product& product, const Operands& operands, Call call)
      : shape_(product),
        a_(static_cast<const float*>(operands.a)),
        b_(static_cast<const float*>(operands.b)),
        y_(static_cast<float*>(operands.y)),
        call_(std::move(call)) {}
  void run(int64_t calls) override {
    for (int64_t i = 0; i < calls; ++i) call_(shape_, a_, b_, y_);
  }

 private:
  Product shape_;
  const float *a_, *b_;
  float* y_;
  Call call_;
};

template <typename Call>
FunctionPeer::Prepare prepare_with(Call call) {
  return [call](const Product& product, const Operands& operands) -> std::unique_ptr<Contender> {
    return std::make_unique<CallContender<Call>>(product, operands, call);
  };
}

// The C interface of BLAS (CBLAS): row-major is 101, plain 111, transposed 112.
using CblasSgemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a,
                            int lda, const float* b, int ldb, float beta, float* c, int ldc);

FunctionPeer::Prepare prepare_cblas(CblasSgemm sgemm) {
  return prepare_with([sgemm](const Product& s, const float* a, const float* b, float* y) {
    sgemm(101, s.trans_a ? 112 : 111, s.trans_b ? 112 : 111, static_cast<int>(s.m), static_cast<int>(s.n),
          static_cast<int>(s.k), 1.0f, a, static_cast<int>(s.lda()), b, static_cast<int>(s.ldb()), 0.0f, y,
          static_cast<int>(s.n));
  });
}

void add(PeerSearch& search, const std::string& name, std::string version, FunctionPeer::Prepare prepare) {
  search.found.push_back(std::make_unique<FunctionPeer>(name, std::move(version), std::move(prepare)));
}

void find_openblas(PeerSearch& search, const fs::path& site_packages) {
  const auto [library, why] = SharedObject::open({site_packages / "scipy_openblas32/lib/libscipy_openblas.so"});
  if (!library.is_open()) return search.skipped.push_back("OpenBLAS: " + why);
  const auto sgemm = library.symbol<CblasSgemm>("scipy_cblas_sgemm");
  const auto set_threads = library.symbol<void (*)(int)>("scipy_openblas_set_num_threads");
  const auto config = library.symbol<const char* (*)()>("scipy_openblas_get_config");
  const auto core = library.symbol<const char* (*)()>("scipy_openblas_get_corename");
  if (!sgemm || !set_threads || !config || !core) return search.skipped.push_back("OpenBLAS: a symbol is missing");
  set_threads(1);
  // "OpenBLAS 0.3.34 <build options>"
  std::string version = config();
  version = version.substr(0, version.find(' ', version.find(' ') + 1));
  if (version.starts_with("OpenBLAS ")) version = version.substr(9);
  add(search, "OpenBLAS", fmt::format("{}, core {}", version, core()), prepare_cblas(sgemm));
}

void find_onednn(PeerSearch& search, const fs::path& python_prefix) {
  struct Version {
    int major, minor, patch;
  };
  using Sgemm = int (*)(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                        int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc);
  const auto [library, why] = SharedObject::open({python_prefix / "lib/libdnnl.so.3"});
  if (!library.is_open()) return search.skipped.push_back("oneDNN: " + why);
  const auto sgemm = library.symbol<Sgemm>("dnnl_sgemm");
  const auto version = library.symbol<const Version* (*)()>("dnnl_version");
  if (!sgemm || !version) return search.skipped.push_back("oneDNN: a symbol is missing");
  const Version* v = version();
  add(search, "oneDNN", fmt::format("{}.{}.{}, dnnl_sgemm", v->major, v->minor, v->patch),
      prepare_with([sgemm](const Product& s, const float* a, const float* b, float* y) {
        sgemm(s.trans_a ? 'T' : 'N', s.trans_b ? 'T' : 'N', s.m, s.n, s.k, 1.0f, a, s.lda(), b, s.ldb(), 0.0f, y, s.n);
      }));
}

void find_blis(PeerSearch& search) {
  const auto [library, why] = SharedObject::open(
      {"/usr/lib/x86_64-linux-gnu/blis-serial/libblis.so.4", "/usr/lib/x86_64-linux-gnu/blis-openmp/libblis.so.4"});
  if (!library.is_open()) return search.skipped.push_back("BLIS: " + why);
  const auto sgemm = library.symbol<CblasSgemm>("cblas_sgemm");
  const auto version = library.symbol<const char* (*)()>("bli_info_get_version_str");
  const auto arch = library.symbol<int (*)()>("bli_arch_query_id");
  const auto arch_name = library.symbol<const char* (*)(int)>("bli_arch_string");
  if (!sgemm || !version || !arch || !arch_name) return search.skipped.push_back("BLIS: a symbol is missing");
  add(search, "BLIS", fmt::format("{}, {}", version(), arch_name(arch())), prepare_cblas(sgemm));
}

// The functions of a wrapper module, see peers/module.h.
struct Module {
  decltype(&gemmc_peer_version) version;
  decltype(&gemmc_peer_prepare) prepare;
  decltype(&gemmc_peer_run) run;
  decltype(&gemmc_peer_free) free;
};

class ModuleContender : public Contender {
 public:
  ModuleContender(const Module& module, void* prepared, const Operands& operands)
      : module_(module), prepared_(prepared), operands_(operands) {}
  ~ModuleContender() override { module_.free(prepared_); }
  void run(int64_t calls) override {
    module_.run(prepared_, static_cast<const float*>(operands_.a), static_cast<const float*>(operands_.b),
                static_cast<float*>(operands_.y), calls);
  }

 private:
  Module module_;
  void* prepared_;
  Operands operands_;
};

void find_module(PeerSearch& search, const std::string& name, const fs::path& path) {
  const auto [library, why] = SharedObject::open({path});
  if (!library.is_open()) return search.skipped.push_back(fmt::format("{}: {}", name, why));
  const Module module = {library.symbol<decltype(&gemmc_peer_version)>("gemmc_peer_version"),
                         library.symbol<decltype(&gemmc_peer_prepare)>("gemmc_peer_prepare"),
                         library.symbol<decltype(&gemmc_peer_run)>("gemmc_peer_run"),
                         library.symbol<decltype(&gemmc_peer_free)>("gemmc_peer_free")};
  if (!module.version || !module.prepare || !module.run || !module.free)
    return search.skipped.push_back(fmt::format("{}: a symbol is missing", name));
  add(search, name, module.version(),
      [module](const Product& s, const Operands& operands) -> std::unique_ptr<Contender> {
        const GemmcPeerShape product = {s.m, s.n, s.k, s.trans_a, s.trans_b};
        void* prepared = module.prepare(&product);
        if (prepared == nullptr) return nullptr;
        return std::make_unique<ModuleContender>(module, prepared, operands);
      });
}

// <prefix>/lib/python3.x/site-packages
fs::path find_site_packages(const fs::path& python_prefix) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(python_prefix / "lib", error))
    if (entry.path().filename().string().starts_with("python3")) return entry.path() / "site-packages";
  return python_prefix / "lib/python3/site-packages";
}

}  // namespace

PeerSearch find_peers(const fs::path& python_prefix, const fs::path& module_directory) {
  for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "BLIS_ARCH_TYPE"}) unsetenv(name);
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS"}) setenv(name, "1", 1);
  PeerSearch search;
  find_openblas(search, find_site_packages(python_prefix));
  find_onednn(search, python_prefix);
  find_blis(search);
  find_module(search, "Eigen", module_directory / "gemmc_peer_eigen.so");
  find_module(search, "LIBXSMM", module_directory / "gemmc_peer_libxsmm.so");
  return search;
}

}  // namespace gemmc
