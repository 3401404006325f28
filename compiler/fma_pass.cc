#include "compiler/fma_pass.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <vector>

#include "compiler/fma_mark.h"

namespace gemmc {
namespace {

using llvm::PatternMatch::m_APInt;
using llvm::PatternMatch::m_c_Xor;
using llvm::PatternMatch::m_ConstantInt;
using llvm::PatternMatch::m_ExtractElt;
using llvm::PatternMatch::m_Value;
using llvm::PatternMatch::match;

bool is_mark(const llvm::APInt& value) {
  return value.getBitWidth() == 64 ? value == kFmaMark64 : value.getBitWidth() == 32 && value == kFmaMark32;
}

bool keeps_lanes(const llvm::BitCastInst& cast) {
  return cast.getSrcTy()->getScalarSizeInBits() == cast.getDestTy()->getScalarSizeInBits();
}

// Where one lane of a value comes from. Scalars have one lane.
struct Lane {
  llvm::Value* value = nullptr;  // null: poison, anything will do
  unsigned index = 0;
  bool is_marked = false;
  bool is_product() const {
    const auto* instruction = llvm::dyn_cast_or_null<llvm::Instruction>(value);
    return is_marked && instruction != nullptr && instruction->getOpcode() == llvm::Instruction::FMul;
  }
};

// Follows a lane through the mark and everything that the optimisers of Halide's LLVM and of ours move lanes by: they
// broadcast products that they took out of a loop, and make vectors of scalar ones.
Lane source_of(Lane lane) {
  while (lane.value != nullptr) {
    const llvm::APInt* mark = nullptr;
    llvm::Value* below = nullptr;
    uint64_t position = 0;
    if (auto* bit_cast = llvm::dyn_cast<llvm::BitCastInst>(lane.value); bit_cast != nullptr && keeps_lanes(*bit_cast)) {
      lane.value = bit_cast->getOperand(0);
    } else if (match(lane.value, m_c_Xor(m_Value(below), m_APInt(mark))) && is_mark(*mark)) {
      lane.is_marked = true;
      lane.value = below;
    } else if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(lane.value)) {
      const int from = shuffle->getMaskValue(lane.index);
      const int width =
          static_cast<int>(llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements());
      lane.value = from < 0 ? nullptr : shuffle->getOperand(from < width ? 0 : 1);
      lane.index = static_cast<unsigned>(from < width ? from : from - width);
    } else if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(lane.value);
               insert != nullptr && match(insert->getOperand(2), m_ConstantInt(position))) {
      const bool is_inserted = position == lane.index;
      lane.value = insert->getOperand(is_inserted ? 1 : 0);
      if (is_inserted) lane.index = 0;
    } else if (match(lane.value, m_ExtractElt(m_Value(below), m_ConstantInt(position)))) {
      lane.value = below;
      lane.index = static_cast<unsigned>(position);
    } else if (llvm::isa<llvm::UndefValue>(lane.value)) {  // poison too
      lane.value = nullptr;
    } else {
      break;
    }
  }
  return lane;
}

unsigned lane_count(const llvm::Value& value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value.getType());
  return vector == nullptr ? 1 : vector->getNumElements();
}

// The lanes of a value that has a marked product in one of them at least; empty if it has none.
std::vector<Lane> lanes_with_products(llvm::Value* value) {
  std::vector<Lane> lanes;
  bool has_product = false;
  for (unsigned i = 0; i < lane_count(*value); ++i) {
    lanes.push_back(source_of({value, i}));
    has_product |= lanes.back().is_product();
  }
  return has_product ? lanes : std::vector<Lane>();
}

// Vectors lane by lane.
class LaneBuilder {
 public:
  LaneBuilder(llvm::Instruction& before, llvm::Type* type) : builder_(&before), type_(type) {}
  llvm::IRBuilder<>& builder() { return builder_; }

  // Not through vectors that are made of scalars, one of which may be marked.
  llvm::Value* element(llvm::Value* value, unsigned index) {
    if (const Lane lane = source_of({value, index}); !lane.is_marked && lane.value != value) return source(lane);
    return value->getType()->isVectorTy() ? builder_.CreateExtractElement(value, uint64_t{index}) : value;
  }

  // What stands in the lane.
  llvm::Value* source(const Lane& lane) {
    llvm::Type* type = type_->getScalarType();
    if (lane.value == nullptr) return llvm::PoisonValue::get(type);
    return builder_.CreateBitCast(element(lane.value, lane.index), type);
  }

  // Factor `side` of every lane's product; all lanes are products, or poison.
  llvm::Value* factors(const std::vector<Lane>& lanes, unsigned side) {
    const auto is_product = [](const Lane& lane) { return lane.value != nullptr; };
    const Lane first = *std::find_if(lanes.begin(), lanes.end(), is_product);
    const auto factor = [&](const Lane& lane) { return llvm::cast<llvm::Instruction>(lane.value)->getOperand(side); };
    bool is_in_place = factor(first)->getType() == type_, is_broadcast = type_->isVectorTy();
    for (unsigned i = 0; i < lanes.size(); ++i) {
      if (!is_product(lanes[i])) continue;
      is_in_place &= lanes[i].value == first.value && lanes[i].index == i;
      is_broadcast &= lanes[i].value == first.value && lanes[i].index == first.index;
    }
    if (is_in_place) return factor(first);
    if (is_broadcast) return builder_.CreateVectorSplat(lane_count_of(type_), element(factor(first), first.index));
    return gather(lanes.size(), [&](unsigned i) {
      return is_product(lanes[i]) ? element(factor(lanes[i]), lanes[i].index) : nullptr;
    });
  }

  // A value of the type with make(i) in lane i; null: poison.
  template <typename Make>
  llvm::Value* gather(size_t count, const Make& make) {
    if (!type_->isVectorTy()) return make(0);
    llvm::Value* result = llvm::PoisonValue::get(type_);
    for (unsigned i = 0; i < count; ++i) {
      if (llvm::Value* value = make(i)) result = builder_.CreateInsertElement(result, value, uint64_t{i});
    }
    return result;
  }

 private:
  static unsigned lane_count_of(llvm::Type* type) { return llvm::cast<llvm::FixedVectorType>(type)->getNumElements(); }

  llvm::IRBuilder<> builder_;
  llvm::Type* type_;
};

// What a mark was put on; null if the instruction does not put one.
llvm::Value* marked_value(const llvm::Instruction& instruction) {
  const llvm::APInt* mark = nullptr;
  llvm::Value* below = nullptr;
  return match(&instruction, m_c_Xor(m_Value(below), m_APInt(mark))) && is_mark(*mark) ? below : nullptr;
}

// One operation for all lanes where all are products, else one for each lane: whole(a, b), or product(a, b, i) and
// other(term, i).
template <typename Whole, typename Product, typename Other>
llvm::Value* each_lane(LaneBuilder& lanes_builder, const std::vector<Lane>& lanes, const Whole& whole,
                       const Product& product, const Other& other) {
  const bool are_products = std::all_of(lanes.begin(), lanes.end(),
                                        [](const Lane& lane) { return lane.value == nullptr || lane.is_product(); });
  if (are_products) {
    llvm::Value* a = lanes_builder.factors(lanes, 0);
    return whole(a, lanes_builder.factors(lanes, 1));
  }
  return lanes_builder.gather(lanes.size(), [&](unsigned i) {
    if (!lanes[i].is_product()) return other(lanes_builder.source(lanes[i]), i);
    const auto* multiply = llvm::cast<llvm::Instruction>(lanes[i].value);
    llvm::Value* a = lanes_builder.element(multiply->getOperand(0), lanes[i].index);
    return product(a, lanes_builder.element(multiply->getOperand(1), lanes[i].index), i);
  });
}

// The sum with marked products in operand `side`, fused or at least without the mark. Nothing if there is none. Where
// only some lanes have one there, the sums of the other lanes, which may have theirs on the other side, join `sums`.
llvm::Value* replacement(llvm::BinaryOperator& sum, unsigned side, bool has_fma,
                         std::vector<llvm::WeakTrackingVH>& sums) {
  llvm::Value* marked = sum.getOperand(side);
  const std::vector<Lane> lanes = lanes_with_products(marked);
  if (lanes.empty()) return nullptr;
  LaneBuilder lanes_builder(sum, sum.getType());
  llvm::IRBuilder<>& builder = lanes_builder.builder();
  llvm::Value* addend = sum.getOperand(1 - side);
  // LLVM writes product - x for product + (-x), and x - product for -(product + (-x)).
  const bool is_difference = sum.getOpcode() == llvm::Instruction::FSub;
  const bool is_subtracted = is_difference && side == 1;
  if (is_difference && side == 0) addend = builder.CreateFNeg(addend);
  const auto fused = [&](llvm::Value* a, llvm::Value* b, llvm::Value* term) -> llvm::Value* {
    if (is_subtracted) a = builder.CreateFNeg(a);
    if (has_fma) return builder.CreateIntrinsic(llvm::Intrinsic::fma, {term->getType()}, {a, b, term});
    return builder.CreateFAdd(term, builder.CreateFMul(a, b));
  };
  return each_lane(
      lanes_builder, lanes, [&](llvm::Value* a, llvm::Value* b) { return fused(a, b, addend); },
      [&](llvm::Value* a, llvm::Value* b, unsigned i) { return fused(a, b, lanes_builder.element(addend, i)); },
      [&](llvm::Value* term, unsigned i) {
        llvm::Value* left = lanes_builder.element(addend, i);
        llvm::Value* rest = is_subtracted ? builder.CreateFSub(left, term) : builder.CreateFAdd(left, term);
        if (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(rest)) sums.emplace_back(operation);
        return rest;
      });
}

// Whether all that is done with a marked value, wherever its lanes move, is to multiply, divide or compare it.
bool is_never_summed(llvm::Instruction& marked) {
  std::vector<llvm::Instruction*> holders = {&marked};
  for (size_t i = 0; i < holders.size(); ++i) {
    for (llvm::User* user : holders[i]->users()) {
      auto* instruction = llvm::cast<llvm::Instruction>(user);
      const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(instruction);
      const bool moves = cast != nullptr ? keeps_lanes(*cast)
                                         : llvm::isa<llvm::ShuffleVectorInst, llvm::InsertElementInst,
                                                     llvm::ExtractElementInst, llvm::PHINode, llvm::SelectInst>(user);
      if (moves) {
        if (std::find(holders.begin(), holders.end(), instruction) == holders.end()) holders.push_back(instruction);
      } else if (instruction->getOpcode() != llvm::Instruction::FMul &&
                 instruction->getOpcode() != llvm::Instruction::FDiv && !llvm::isa<llvm::FCmpInst>(instruction)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

Status fuse_marked_products(llvm::Module& module, bool has_fma) {
  std::vector<llvm::WeakTrackingVH> sums;  // the first of the module last; null: deleted since
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      const unsigned opcode = instruction.getOpcode();
      if (opcode == llvm::Instruction::FAdd || opcode == llvm::Instruction::FSub) {
        sums.emplace_back(&instruction);
      }
    }
  }
  std::reverse(sums.begin(), sums.end());
  while (!sums.empty()) {
    auto* sum = llvm::dyn_cast_or_null<llvm::BinaryOperator>(static_cast<llvm::Value*>(sums.back()));
    sums.pop_back();
    if (sum == nullptr) continue;
    unsigned side = 0;
    llvm::Value* fused = replacement(*sum, side, has_fma, sums);
    if (fused == nullptr) fused = replacement(*sum, side = 1, has_fma, sums);
    if (fused == nullptr) continue;
    llvm::Value* marked = sum->getOperand(side);
    sum->replaceAllUsesWith(fused);
    sum->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(marked);
  }
  // Without its mark, a product that no sum takes is what was meant: LLVM compares it where the other term of its sum
  // is 0, and multiplies it in lanes that nobody reads, where a vector of sums and one of products are made of scalars.
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      llvm::Value* product = marked_value(instruction);
      if (product == nullptr) continue;
      if (!is_never_summed(instruction))
        return Status::internal("a marked product outside a sum in " + function.getName().str());
      instruction.replaceAllUsesWith(product);
      instruction.eraseFromParent();
    }
  }
  return Status::ok();
}

}  // namespace gemmc
