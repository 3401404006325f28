// ONNX Runtime from the PyPI wheel onnxruntime, one MatMul or Gemm node a session. The wheel has no headers: functions
// are taken from its table by their slots, which never move (the table of API version 1).
#include <array>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "tools/performance/peers/known_peers.h"
#include "tools/performance/peers/onnx_product.h"
#include "tools/performance/peers/shared_object.h"

namespace gemmc {
namespace {

namespace fs = std::filesystem;

struct ApiBase {
  const void* const* (*get_api)(uint32_t version);
  const char* (*version)();
};
using Handle = void*;
using Failure = void*;  // null is success
constexpr int kErrorsOnly = 3, kDeviceAllocator = 0, kDefaultMemory = 0;

struct Api {
  Failure (*create_env)(int level, const char* name, Handle* env);
  Failure (*create_session)(Handle env, const void* model, size_t bytes, Handle options, Handle* session);
  Failure (*run)(Handle session, Handle options, const char* const* input_names, const Handle* inputs,
                 size_t inputs_count, const char* const* output_names, size_t outputs_count, Handle* outputs);
  Failure (*create_options)(Handle* options);
  Failure (*set_intra_threads)(Handle options, int count);
  Failure (*create_tensor)(Handle memory_info, void* data, size_t bytes, const int64_t* shape, size_t rank, int type,
                           Handle* value);
  Failure (*create_cpu_memory_info)(int allocator, int kind, Handle* info);
  void (*release_env)(Handle env);
  void (*release_status)(Failure failure);
  void (*release_memory_info)(Handle info);
  void (*release_session)(Handle session);
  void (*release_value)(Handle value);
  void (*release_options)(Handle options);

  explicit Api(const void* const* slots) {
    const auto take = [&](auto& function, int slot) { std::memcpy(&function, &slots[slot], sizeof(function)); };
    take(create_env, 3);
    take(create_session, 8);
    take(run, 9);
    take(create_options, 10);
    take(set_intra_threads, 24);
    take(create_tensor, 49);
    take(create_cpu_memory_info, 69);
    take(release_env, 92);
    take(release_status, 93);
    take(release_memory_info, 94);
    take(release_session, 95);
    take(release_value, 96);
    take(release_options, 100);
  }
  bool is_ok(Failure failure) const {
    if (failure != nullptr) release_status(failure);
    return failure == nullptr;
  }
};

// What all sessions share.
struct Runtime {
  Api api;
  Handle env = nullptr, options = nullptr, memory_info = nullptr;

  explicit Runtime(const Api& functions) : api(functions) {}
  ~Runtime() {
    if (memory_info != nullptr) api.release_memory_info(memory_info);
    if (options != nullptr) api.release_options(options);
    if (env != nullptr) api.release_env(env);
  }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

class SessionContender : public Contender {
 public:
  explicit SessionContender(std::shared_ptr<const Runtime> runtime) : runtime_(std::move(runtime)) {}
  ~SessionContender() override {
    for (const Handle value : {a_and_b_[0], a_and_b_[1], y_})
      if (value != nullptr) runtime_->api.release_value(value);
    if (session_ != nullptr) runtime_->api.release_session(session_);
  }
  SessionContender(const SessionContender&) = delete;
  SessionContender& operator=(const SessionContender&) = delete;

  // False where the library has nothing for the task.
  bool prepare(const PeerTask& task) {
    const Api& api = runtime_->api;
    const OnnxProduct onnx(task.dtype, task.product);
    if (task.has_packed_b && onnx.b.bytes > OnnxProduct::kMostConstantBytes) return false;
    const std::string model = onnx.model(task.has_packed_b ? task.operands.b : nullptr);
    if (!api.is_ok(api.create_session(runtime_->env, model.data(), model.size(), runtime_->options, &session_)))
      return false;
    const auto wrap = [&](const OnnxProduct::Tensor& tensor, const void* data, Handle* value) {
      return api.is_ok(api.create_tensor(runtime_->memory_info, const_cast<void*>(data), tensor.bytes,
                                         tensor.shape.data(), tensor.shape.size(), onnx.type, value));
    };
    inputs_ = task.has_packed_b ? 1 : 2;
    if (!wrap(onnx.a, task.operands.a, &a_and_b_[0]) || !wrap(onnx.y, task.operands.y, &y_)) return false;
    if (!task.has_packed_b && !wrap(onnx.b, task.operands.b, &a_and_b_[1])) return false;
    return run_once();
  }

  void run(int64_t calls) override {
    for (int64_t call = 0; call < calls; ++call) run_once();
  }

 private:
  bool run_once() {
    static constexpr const char* kInputs[] = {"A", "B"};
    static constexpr const char* kOutputs[] = {"Y"};
    return runtime_->api.is_ok(
        runtime_->api.run(session_, nullptr, kInputs, a_and_b_.data(), inputs_, kOutputs, 1, &y_));
  }

  std::shared_ptr<const Runtime> runtime_;
  Handle session_ = nullptr;
  size_t inputs_ = 0;
  std::array<Handle, 2> a_and_b_ = {};
  Handle y_ = nullptr;
};

class OnnxRuntimePeer : public Peer {
 public:
  OnnxRuntimePeer(std::shared_ptr<const Runtime> runtime, std::string version)
      : runtime_(std::move(runtime)), version_(std::move(version)) {}
  std::string name() const override { return "ONNX Runtime"; }
  std::string version() const override { return version_; }
  std::unique_ptr<Contender> prepare(const PeerTask& task) override {
    if (!OnnxProduct::can_express(task.product)) return nullptr;
    auto contender = std::make_unique<SessionContender>(runtime_);
    return contender->prepare(task) ? std::move(contender) : nullptr;
  }

 private:
  std::shared_ptr<const Runtime> runtime_;
  std::string version_;
};

// The wheel has its version in the library's name.
std::vector<fs::path> libraries(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("libonnxruntime.so")) paths.push_back(entry.path());
  return paths;
}

}  // namespace

FoundPeer find_onnxruntime(const PeerPlaces& places) {
  const auto library = SharedObject::open(libraries(site_packages(places.python_prefix) / "onnxruntime/capi"));
  if (!library) return library.status();
  const auto get_base = library->symbol<const ApiBase* (*)()>("OrtGetApiBase");
  if (!get_base) return symbol_is_missing();
  const void* const* slots = get_base()->get_api(1);
  if (slots == nullptr) return Status::environment("it has no API of version 1");
  const auto runtime = std::make_shared<Runtime>(Api(slots));
  const Api& api = runtime->api;
  if (!api.is_ok(api.create_env(kErrorsOnly, "gemmc", &runtime->env)) ||
      !api.is_ok(api.create_options(&runtime->options)) || !api.is_ok(api.set_intra_threads(runtime->options, 1)) ||
      !api.is_ok(api.create_cpu_memory_info(kDeviceAllocator, kDefaultMemory, &runtime->memory_info)))
    return Status::environment("it cannot be set up");
  return std::unique_ptr<Peer>(std::make_unique<OnnxRuntimePeer>(runtime, get_base()->version()));
}

}  // namespace gemmc
