/** The shapes of backend/api/dto_branches.go, field by field. */
import type { BlockView, ErrorView, PinView, SendResult, TurnView } from './types';

/** BranchTree is a session's branches as runs of turns: a run ends where something forks off and where its branch ends, so that a tree of a thousand turns is drawn as its forks. Runs stand parents first, siblings oldest first. */
export interface BranchTree {
  rev: number;
  sessionId: string;
  active: string;
  /** of all branches */
  turns: number;
  runs: TreeRun[];
  /** archived ones too, oldest first */
  branches: TreeBranch[];
}

/** TreeRun is a run of turns of one branch, FromSeq to ToSeq, inclusive. A branch without turns of its own is an empty run: ToSeq is FromSeq-1 and its turns are "". */
export interface TreeRun {
  /** of its first turn; of an empty run its branch */
  id: string;
  /** the run it goes on from; empty at a root */
  parent: string;
  branchId: string;
  fromSeq: number;
  toSeq: number;
  firstTurn: string;
  lastTurn: string;
  /** first words of the first turn's message */
  first: string;
  /** first words of the last turn's message; empty if it is the first */
  last: string;
  /** here its branch ends */
  ends: boolean;
  /** the turn that a head here covers; 0: there is none */
  headSeq: number;
  pending: number;
  /** incomplete, failed or unsent turns */
  open: number;
  /** of its last turn, as in TurnView */
  state: string;
  updatedAt: number;
}

/** TreeBranch is a branch in the tree, the switcher and comparisons. */
export interface TreeBranch {
  id: string;
  label: string;
  parentId: string;
  forkSeq: number;
  /** of its lineage */
  turns: number;
  /** its own turns */
  own: number;
  pending: number;
  headSeq: number;
  headState: string;
  headShortId: string;
  archived: boolean;
  active: boolean;
  createdAt: number;
  updatedAt: number;
}

/** BranchComparison is two branches of a session beside each other, from where they part. */
export interface BranchComparison {
  /** turns both have */
  shared: number;
  /** the last of them; empty for none */
  lastTurn: string;
  left: BranchSide;
  right: BranchSide;
}

/** BranchSide is what one branch of a comparison has for itself. */
export interface BranchSide {
  branch: TreeBranch;
  /** of its first own turn after parting; 0 for none */
  fromSeq: number;
  toSeq: number;
  /** the first hundred; the rest by Sessions.Turns */
  turns: TurnView[];
  summary: string;
  pins: PinView[];
}

/** AnswerSet are the answers of several models to one message, each on its branch. */
export interface AnswerSet {
  rev: number;
  /** of the message */
  seq: number;
  /** the message */
  user: BlockView[];
  columns: AnswerColumn[];
}

/** AnswerColumn is one of them. */
export interface AnswerColumn {
  branchId: string;
  label: string;
  /** the session's active branch */
  active: boolean;
  /** turns that follow it on its branch */
  later: number;
  turn: TurnView;
}

/** SentToSeveral is a message sent to several models. Problems are what kept it from some; it is on its way to the others. */
export interface SentToSeveral {
  first: SendResult;
  problems: ErrorView[];
}
