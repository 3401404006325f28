// Eigen and LIBXSMM, each in a module of this build, see peers/module.h.
#include "tools/performance/peers/function_peer.h"
#include "tools/performance/peers/known_peers.h"
#include "tools/performance/peers/module.h"
#include "tools/performance/peers/shared_object.h"

namespace gemmc {
namespace {

struct Module {
  decltype(&gemmc_peer_version) version;
  decltype(&gemmc_peer_prepare) prepare;
  decltype(&gemmc_peer_run) run;
  decltype(&gemmc_peer_free) free;
};

class ModuleContender : public Contender {
 public:
  ModuleContender(const Module& module, void* prepared, const PeerTask& task)
      : module_(module), prepared_(prepared), task_(task) {}
  ~ModuleContender() override { module_.free(prepared_); }
  ModuleContender(const ModuleContender&) = delete;
  ModuleContender& operator=(const ModuleContender&) = delete;

  void run(int64_t calls) override {
    const Operands& operands = task_.operands;
    const Product& product = task_.product;
    if (product.batch == 1) return module_.run(prepared_, operands.a, operands.b, operands.y, calls);
    const int64_t bytes = static_cast<int64_t>(size_bytes(task_.dtype));
    for (int64_t call = 0; call < calls; ++call) {
      for (int64_t item = 0; item < product.batch; ++item) {
        module_.run(prepared_, static_cast<const char*>(operands.a) + item * product.a_step() * bytes,
                    static_cast<const char*>(operands.b) + item * product.b_step() * bytes,
                    static_cast<char*>(operands.y) + item * product.y_step() * bytes, 1);
      }
    }
  }

 private:
  Module module_;
  void* prepared_;
  PeerTask task_;
};

FoundPeer find_module(const std::string& name, const std::filesystem::path& path) {
  const auto library = SharedObject::open({path});
  if (!library) return library.status();
  const Module module = {library->symbol<decltype(&gemmc_peer_version)>("gemmc_peer_version"),
                         library->symbol<decltype(&gemmc_peer_prepare)>("gemmc_peer_prepare"),
                         library->symbol<decltype(&gemmc_peer_run)>("gemmc_peer_run"),
                         library->symbol<decltype(&gemmc_peer_free)>("gemmc_peer_free")};
  if (!module.version || !module.prepare || !module.run || !module.free) return symbol_is_missing();
  return std::unique_ptr<Peer>(std::make_unique<FunctionPeer>(
      name, module.version(), [module](const PeerTask& task) -> std::unique_ptr<Contender> {
        if (task.dtype != DType::kFloat32 && task.dtype != DType::kFloat64) return nullptr;
        const Product& p = task.product;
        const GemmcPeerShape shape = {p.m, p.n, p.k, p.trans_a, p.trans_b, task.dtype == DType::kFloat64};
        void* prepared = module.prepare(&shape);
        if (prepared == nullptr) return nullptr;
        return std::make_unique<ModuleContender>(module, prepared, task);
      }));
}

}  // namespace

FoundPeer find_eigen(const PeerPlaces& places) {
  return find_module("Eigen", places.module_directory / "gemmc_peer_eigen.so");
}

FoundPeer find_libxsmm(const PeerPlaces& places) {
  return find_module("LIBXSMM", places.module_directory / "gemmc_peer_libxsmm.so");
}

}  // namespace gemmc
