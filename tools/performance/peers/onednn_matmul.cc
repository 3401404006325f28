// oneDNN's matmul primitive: created once, executed many times. Batches are its own, and weights may have the layout
// that it likes best (format "any"), into which they are reordered once.
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/performance/aligned_memory.h"
#include "tools/performance/peers/known_peers.h"
#include "tools/performance/peers/onednn.h"

namespace gemmc {
namespace {

// The part of oneDNN's C interface that is used here. Handles are pointers; status 0 is success.
using Handle = void*;
using ConstHandle = const void*;
constexpr int kCpu = 1, kDefaultStream = 1, kAnyFormat = 1;
constexpr int kFloat16 = 1, kBFloat16 = 2, kFloat32 = 3;
constexpr int kSource = 1, kWeights = 33, kDestination = 17;  // arguments of matmul
constexpr int kReorderFrom = 1, kReorderTo = 17;
constexpr int kWeightsDescription = 131;  // a query
struct Argument {
  int index;
  Handle memory;
};

struct Api {
  int (*engine_create)(Handle* engine, int kind, size_t index);
  int (*engine_destroy)(Handle engine);
  int (*stream_create)(Handle* stream, Handle engine, unsigned flags);
  int (*stream_wait)(Handle stream);
  int (*stream_destroy)(Handle stream);
  int (*desc_with_strides)(Handle* desc, int rank, const int64_t* dims, int type, const int64_t* strides);
  int (*desc_with_tag)(Handle* desc, int rank, const int64_t* dims, int type, int tag);
  int (*desc_destroy)(Handle desc);
  size_t (*desc_size)(ConstHandle desc);
  int (*memory_create)(Handle* memory, ConstHandle desc, Handle engine, void* data);
  int (*memory_destroy)(Handle memory);
  int (*matmul_create)(Handle* primitive_desc, Handle engine, ConstHandle source, ConstHandle weights, ConstHandle bias,
                       ConstHandle destination, ConstHandle attributes);
  int (*reorder_create)(Handle* primitive_desc, ConstHandle from, Handle from_engine, ConstHandle to, Handle to_engine,
                        ConstHandle attributes);
  ConstHandle (*query_description)(ConstHandle primitive_desc, int what, int index);
  int (*primitive_desc_destroy)(Handle primitive_desc);
  int (*primitive_create)(Handle* primitive, ConstHandle primitive_desc);
  int (*primitive_execute)(ConstHandle primitive, Handle stream, int count, const Argument* arguments);
  int (*primitive_destroy)(Handle primitive);
};

// False where a function is missing.
bool load(const SharedObject& library, Api& api) {
  bool is_complete = true;
  const auto find = [&](auto& function, const char* name) {
    function = library.symbol<std::remove_reference_t<decltype(function)>>(name);
    is_complete = is_complete && function != nullptr;
  };
  find(api.engine_create, "dnnl_engine_create");
  find(api.engine_destroy, "dnnl_engine_destroy");
  find(api.stream_create, "dnnl_stream_create");
  find(api.stream_wait, "dnnl_stream_wait");
  find(api.stream_destroy, "dnnl_stream_destroy");
  find(api.desc_with_strides, "dnnl_memory_desc_create_with_strides");
  find(api.desc_with_tag, "dnnl_memory_desc_create_with_tag");
  find(api.desc_destroy, "dnnl_memory_desc_destroy");
  find(api.desc_size, "dnnl_memory_desc_get_size");
  find(api.memory_create, "dnnl_memory_create");
  find(api.memory_destroy, "dnnl_memory_destroy");
  find(api.matmul_create, "dnnl_matmul_primitive_desc_create");
  find(api.reorder_create, "dnnl_reorder_primitive_desc_create");
  find(api.query_description, "dnnl_primitive_desc_query_md");
  find(api.primitive_desc_destroy, "dnnl_primitive_desc_destroy");
  find(api.primitive_create, "dnnl_primitive_create");
  find(api.primitive_execute, "dnnl_primitive_execute");
  find(api.primitive_destroy, "dnnl_primitive_destroy");
  return is_complete;
}

// A handle that is given back. Null where nothing was made.
class Owned {
 public:
  using Destroy = int (*)(Handle);
  explicit Owned(Destroy destroy) : destroy_(destroy) {}
  ~Owned() {
    if (handle_ != nullptr) destroy_(handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Handle* out() { return &handle_; }
  Handle get() const { return handle_; }

 private:
  Handle handle_ = nullptr;
  Destroy destroy_;
};

// The engine and the stream that all products share.
struct Device {
  Api api;
  Owned engine, stream;  // the stream goes first
  explicit Device(const Api& functions) : api(functions), engine(api.engine_destroy), stream(api.stream_destroy) {}
};

// One stored matrix, or a batch of them, as the rows x columns that the product sees.
struct Matrices {
  std::vector<int64_t> dims, strides;
  Matrices(const Product& product, int64_t rows, int64_t columns, bool is_transposed, bool is_shared) {
    if (product.batch > 1) {
      dims.push_back(is_shared ? 1 : product.batch);
      strides.push_back(rows * columns);
    }
    dims.insert(dims.end(), {rows, columns});
    strides.insert(strides.end(), {is_transposed ? 1 : columns, is_transposed ? rows : 1});
  }
  int rank() const { return static_cast<int>(dims.size()); }
};

class MatmulContender : public Contender {
 public:
  explicit MatmulContender(std::shared_ptr<const Device> device)
      : device_(std::move(device)),
        a_(device_->api.memory_destroy),
        b_(device_->api.memory_destroy),
        y_(device_->api.memory_destroy),
        matmul_(device_->api.primitive_destroy) {}

  // False where the library has nothing for the task.
  bool prepare(const PeerTask& task, int type) {
    const Api& api = device_->api;
    const Product& p = task.product;
    const Matrices a(p, p.m, p.k, p.trans_a, p.shares_a), b(p, p.k, p.n, p.trans_b, p.shares_b),
        y(p, p.m, p.n, false, false);
    Owned a_desc(api.desc_destroy), b_desc(api.desc_destroy), any_b_desc(api.desc_destroy), y_desc(api.desc_destroy);
    const auto describe = [&](Owned& desc, const Matrices& matrices) {
      return api.desc_with_strides(desc.out(), matrices.rank(), matrices.dims.data(), type, matrices.strides.data()) ==
             0;
    };
    if (!describe(a_desc, a) || !describe(b_desc, b) || !describe(y_desc, y)) return false;
    if (api.desc_with_tag(any_b_desc.out(), b.rank(), b.dims.data(), type, kAnyFormat) != 0) return false;

    Owned primitive_desc(api.primitive_desc_destroy);
    const Owned& wanted_b = task.has_packed_b ? any_b_desc : b_desc;
    if (api.matmul_create(primitive_desc.out(), device_->engine.get(), a_desc.get(), wanted_b.get(), nullptr,
                          y_desc.get(), nullptr) != 0)
      return false;
    const auto wrap = [&](Owned& memory, ConstHandle desc, const void* data) {
      return api.memory_create(memory.out(), desc, device_->engine.get(), const_cast<void*>(data)) == 0;
    };
    const Operands& operands = task.operands;
    if (!wrap(a_, a_desc.get(), operands.a) || !wrap(y_, y_desc.get(), operands.y)) return false;
    if (task.has_packed_b) {
      Owned plain_b(api.memory_destroy);
      if (!wrap(plain_b, b_desc.get(), operands.b)) return false;
      const ConstHandle packed_desc = api.query_description(primitive_desc.get(), kWeightsDescription, 0);
      if (!pack(plain_b.get(), b_desc.get(), packed_desc)) return false;
    } else if (!wrap(b_, b_desc.get(), operands.b)) {
      return false;
    }
    if (api.primitive_create(matmul_.out(), primitive_desc.get()) != 0) return false;
    arguments_ = {{kSource, a_.get()}, {kWeights, b_.get()}, {kDestination, y_.get()}};
    return true;
  }

  void run(int64_t calls) override {
    for (int64_t call = 0; call < calls; ++call)
      device_->api.primitive_execute(matmul_.get(), device_->stream.get(), static_cast<int>(arguments_.size()),
                                     arguments_.data());
    device_->api.stream_wait(device_->stream.get());
  }

 private:
  bool pack(Handle plain_b, ConstHandle plain_desc, ConstHandle packed_desc) {
    const Api& api = device_->api;
    Expected<AlignedMemory> memory = allocate_aligned(api.desc_size(packed_desc));
    if (!memory) return false;
    packed_b_ = *std::move(memory);
    if (api.memory_create(b_.out(), packed_desc, device_->engine.get(), packed_b_.get()) != 0) return false;
    Owned reorder_desc(api.primitive_desc_destroy), reorder(api.primitive_destroy);
    if (api.reorder_create(reorder_desc.out(), plain_desc, device_->engine.get(), packed_desc, device_->engine.get(),
                           nullptr) != 0 ||
        api.primitive_create(reorder.out(), reorder_desc.get()) != 0)
      return false;
    const Argument arguments[] = {{kReorderFrom, plain_b}, {kReorderTo, b_.get()}};
    return api.primitive_execute(reorder.get(), device_->stream.get(), 2, arguments) == 0 &&
           api.stream_wait(device_->stream.get()) == 0;
  }

  std::shared_ptr<const Device> device_;
  AlignedMemory packed_b_;  // before b_, which is destroyed first
  Owned a_, b_, y_, matmul_;
  std::vector<Argument> arguments_;
};

class MatmulPeer : public Peer {
 public:
  MatmulPeer(std::shared_ptr<const Device> device, std::string version)
      : device_(std::move(device)), version_(std::move(version)) {}
  std::string name() const override { return "oneDNN matmul"; }
  std::string version() const override { return version_; }
  std::unique_ptr<Contender> prepare(const PeerTask& task) override {
    const int type = task.dtype == DType::kFloat32    ? kFloat32
                     : task.dtype == DType::kBFloat16 ? kBFloat16
                     : task.dtype == DType::kFloat16  ? kFloat16
                                                      : 0;
    if (type == 0) return nullptr;
    auto contender = std::make_unique<MatmulContender>(device_);
    return contender->prepare(task, type) ? std::move(contender) : nullptr;
  }

 private:
  std::shared_ptr<const Device> device_;
  std::string version_;
};

}  // namespace

FoundPeer find_onednn_matmul(const PeerPlaces& places) {
  const Expected<OneDnn> onednn = open_onednn(places);
  if (!onednn) return onednn.status();
  Api api;
  if (!load(onednn->library, api)) return symbol_is_missing();
  const auto device = std::make_shared<Device>(api);
  if (api.engine_create(device->engine.out(), kCpu, 0) != 0 ||
      api.stream_create(device->stream.out(), device->engine.get(), kDefaultStream) != 0)
    return Status::environment("it has no engine for this CPU");
  return std::unique_ptr<Peer>(std::make_unique<MatmulPeer>(device, onednn->version + ", matmul primitive"));
}

}  // namespace gemmc
