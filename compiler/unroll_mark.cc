#include "compiler/unroll_mark.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace gemmc {
namespace {

// Leaves one instruction of the loop itself to 20 of a turn; on Zen 3 half of it gives most of the gain.
constexpr unsigned kMostTurns = 4;
// Of LLVM's IR, which has about two for each of the machine's. What repeats must stay in the cache of decoded ones.
constexpr unsigned kMostInstructions = 512;

bool carries_sums(const llvm::BasicBlock& block) {
  for (const llvm::PHINode& carried : block.phis()) {
    if (carried.getType()->isVectorTy() || carried.getType()->isFloatingPointTy()) return true;
  }
  return false;
}

unsigned turns_at_once(const llvm::BasicBlock& body) {
  unsigned turns = kMostTurns;
  while (turns > 1 && turns * body.size() > kMostInstructions) turns /= 2;
  return turns;
}

}  // namespace

void mark_sum_loops_for_unrolling(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
      if (!loop->isInnermost() || loop->getNumBlocks() != 1 || !carries_sums(*loop->getHeader())) continue;
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.count", turns_at_once(*loop->getHeader()));
    }
  }
}

}  // namespace gemmc
