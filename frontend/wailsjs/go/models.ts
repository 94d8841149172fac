export namespace api {
	
	export class TurnMetrics {
	    turnId: string;
	    turnSeq: number;
	    estimateTokens: number;
	    inputTokens: number;
	    outputTokens: number;
	    cachedTokens: number;
	    searchMs: number;
	    embedMs: number;
	    assembleMs: number;
	    firstByteMs: number;
	    streamMs: number;
	    summarizeMs: number;
	    indexMs: number;
	    attempts: number;
	    candidates: number;
	    selected: number;
	    packedTokens: number;
	    similarityMin: number;
	    similarityMax: number;
	    retrievalFailed: boolean;
	    retrievalError: string;
	    validationResult: string;
	    validationTries: number;
	
	    static createFrom(source: any = {}) {
	        return new TurnMetrics(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.turnId = source["turnId"];
	        this.turnSeq = source["turnSeq"];
	        this.estimateTokens = source["estimateTokens"];
	        this.inputTokens = source["inputTokens"];
	        this.outputTokens = source["outputTokens"];
	        this.cachedTokens = source["cachedTokens"];
	        this.searchMs = source["searchMs"];
	        this.embedMs = source["embedMs"];
	        this.assembleMs = source["assembleMs"];
	        this.firstByteMs = source["firstByteMs"];
	        this.streamMs = source["streamMs"];
	        this.summarizeMs = source["summarizeMs"];
	        this.indexMs = source["indexMs"];
	        this.attempts = source["attempts"];
	        this.candidates = source["candidates"];
	        this.selected = source["selected"];
	        this.packedTokens = source["packedTokens"];
	        this.similarityMin = source["similarityMin"];
	        this.similarityMax = source["similarityMax"];
	        this.retrievalFailed = source["retrievalFailed"];
	        this.retrievalError = source["retrievalError"];
	        this.validationResult = source["validationResult"];
	        this.validationTries = source["validationTries"];
	    }
	}
	export class RecoveryItem {
	    kind: string;
	    sessionId: string;
	    session: string;
	    turnId: string;
	    turnSeq: number;
	    bytes: number;
	    count: number;
	    message: string;
	
	    static createFrom(source: any = {}) {
	        return new RecoveryItem(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.kind = source["kind"];
	        this.sessionId = source["sessionId"];
	        this.session = source["session"];
	        this.turnId = source["turnId"];
	        this.turnSeq = source["turnSeq"];
	        this.bytes = source["bytes"];
	        this.count = source["count"];
	        this.message = source["message"];
	    }
	}
	export class RecoveryReport {
	    at: number;
	    clean: boolean;
	    summary: string;
	    items: RecoveryItem[];
	
	    static createFrom(source: any = {}) {
	        return new RecoveryReport(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.at = source["at"];
	        this.clean = source["clean"];
	        this.summary = source["summary"];
	        this.items = this.convertValues(source["items"], RecoveryItem);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class JobView {
	    id: number;
	    type: string;
	    turnId: string;
	    turnSeq: number;
	    sessionId: string;
	    session: string;
	    state: string;
	    attempts: number;
	    lastError: string;
	    waitsFor: number;
	    runAfter: number;
	    updatedAt: number;
	
	    static createFrom(source: any = {}) {
	        return new JobView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.type = source["type"];
	        this.turnId = source["turnId"];
	        this.turnSeq = source["turnSeq"];
	        this.sessionId = source["sessionId"];
	        this.session = source["session"];
	        this.state = source["state"];
	        this.attempts = source["attempts"];
	        this.lastError = source["lastError"];
	        this.waitsFor = source["waitsFor"];
	        this.runAfter = source["runAfter"];
	        this.updatedAt = source["updatedAt"];
	    }
	}
	export class ActivityPanel {
	    jobs: JobView[];
	    queued: number;
	    running: number;
	    dead: number;
	    recovery: RecoveryReport;
	    earlier: RecoveryReport[];
	    turns: TurnMetrics[];
	
	    static createFrom(source: any = {}) {
	        return new ActivityPanel(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.jobs = this.convertValues(source["jobs"], JobView);
	        this.queued = source["queued"];
	        this.running = source["running"];
	        this.dead = source["dead"];
	        this.recovery = this.convertValues(source["recovery"], RecoveryReport);
	        this.earlier = this.convertValues(source["earlier"], RecoveryReport);
	        this.turns = this.convertValues(source["turns"], TurnMetrics);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ModelView {
	    name: string;
	    provider: string;
	    modelId: string;
	    baseUrl: string;
	    apiKeyEnv: string;
	    contextLimit: number;
	    maxOutput: number;
	    limitSource: string;
	    ceiling: number;
	    stream: boolean;
	    allowPlainHttp: boolean;
	    usable: boolean;
	    why: string;
	    default: boolean;
	    builtIn: boolean;
	    options: string;
	    images: string;
	    tools: string;
	    reasoning: string;
	    favourite: boolean;
	    priceInput: number;
	    priceCached: number;
	    priceOutput: number;
	    priceSource: string;
	
	    static createFrom(source: any = {}) {
	        return new ModelView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.provider = source["provider"];
	        this.modelId = source["modelId"];
	        this.baseUrl = source["baseUrl"];
	        this.apiKeyEnv = source["apiKeyEnv"];
	        this.contextLimit = source["contextLimit"];
	        this.maxOutput = source["maxOutput"];
	        this.limitSource = source["limitSource"];
	        this.ceiling = source["ceiling"];
	        this.stream = source["stream"];
	        this.allowPlainHttp = source["allowPlainHttp"];
	        this.usable = source["usable"];
	        this.why = source["why"];
	        this.default = source["default"];
	        this.builtIn = source["builtIn"];
	        this.options = source["options"];
	        this.images = source["images"];
	        this.tools = source["tools"];
	        this.reasoning = source["reasoning"];
	        this.favourite = source["favourite"];
	        this.priceInput = source["priceInput"];
	        this.priceCached = source["priceCached"];
	        this.priceOutput = source["priceOutput"];
	        this.priceSource = source["priceSource"];
	    }
	}
	export class AddedModel {
	    name: string;
	    models: ModelView[];
	
	    static createFrom(source: any = {}) {
	        return new AddedModel(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.models = this.convertValues(source["models"], ModelView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ToolCallView {
	    id: string;
	    toolUseId: string;
	    turnId: string;
	    step: string;
	    name: string;
	    source: string;
	    tool: string;
	    title: string;
	    state: string;
	    decision: string;
	    reason: string;
	    why: string;
	    effects: boolean;
	    arguments: string;
	    preview: string;
	    redactions: number;
	    result: string;
	    resultMore: boolean;
	    isError: boolean;
	    images: number;
	    definition: string;
	    runs: number;
	    running: boolean;
	    progressDone: number;
	    progressTotal: number;
	    progressMessage: string;
	    createdAt: number;
	    decidedAt: number;
	    startedAt: number;
	    endedAt: number;
	
	    static createFrom(source: any = {}) {
	        return new ToolCallView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.toolUseId = source["toolUseId"];
	        this.turnId = source["turnId"];
	        this.step = source["step"];
	        this.name = source["name"];
	        this.source = source["source"];
	        this.tool = source["tool"];
	        this.title = source["title"];
	        this.state = source["state"];
	        this.decision = source["decision"];
	        this.reason = source["reason"];
	        this.why = source["why"];
	        this.effects = source["effects"];
	        this.arguments = source["arguments"];
	        this.preview = source["preview"];
	        this.redactions = source["redactions"];
	        this.result = source["result"];
	        this.resultMore = source["resultMore"];
	        this.isError = source["isError"];
	        this.images = source["images"];
	        this.definition = source["definition"];
	        this.runs = source["runs"];
	        this.running = source["running"];
	        this.progressDone = source["progressDone"];
	        this.progressTotal = source["progressTotal"];
	        this.progressMessage = source["progressMessage"];
	        this.createdAt = source["createdAt"];
	        this.decidedAt = source["decidedAt"];
	        this.startedAt = source["startedAt"];
	        this.endedAt = source["endedAt"];
	    }
	}
	export class ErrorView {
	    code: string;
	    op: string;
	    message: string;
	    hint: string;
	
	    static createFrom(source: any = {}) {
	        return new ErrorView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.code = source["code"];
	        this.op = source["op"];
	        this.message = source["message"];
	        this.hint = source["hint"];
	    }
	}
	export class BlockView {
	    kind: string;
	    text: string;
	    name: string;
	    id: string;
	    data: string;
	    isError: boolean;
	    tokens: number;
	    whole: boolean;
	
	    static createFrom(source: any = {}) {
	        return new BlockView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.kind = source["kind"];
	        this.text = source["text"];
	        this.name = source["name"];
	        this.id = source["id"];
	        this.data = source["data"];
	        this.isError = source["isError"];
	        this.tokens = source["tokens"];
	        this.whole = source["whole"];
	    }
	}
	export class TurnView {
	    id: string;
	    branchId: string;
	    seq: number;
	    phase: string;
	    outcome: string;
	    user: BlockView[];
	    assistant: BlockView[];
	    state: string;
	    live: boolean;
	    liveStep: string;
	    liveSeq: number;
	    displayed: number;
	    durable: number;
	    model: string;
	    provider: string;
	    inputTokens: number;
	    outputTokens: number;
	    cachedTokens: number;
	    durationMs: number;
	    attempts: number;
	    retryOf: string;
	    error?: ErrorView;
	    indexStatus: string;
	    stateAfter: string;
	    createdAt: number;
	    updatedAt: number;
	    canContinue: boolean;
	    cost: string;
	    notice: string;
	    calls: ToolCallView[];
	    memories: number;
	    memoryError: string;
	    erasedAt: number;
	
	    static createFrom(source: any = {}) {
	        return new TurnView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.branchId = source["branchId"];
	        this.seq = source["seq"];
	        this.phase = source["phase"];
	        this.outcome = source["outcome"];
	        this.user = this.convertValues(source["user"], BlockView);
	        this.assistant = this.convertValues(source["assistant"], BlockView);
	        this.state = source["state"];
	        this.live = source["live"];
	        this.liveStep = source["liveStep"];
	        this.liveSeq = source["liveSeq"];
	        this.displayed = source["displayed"];
	        this.durable = source["durable"];
	        this.model = source["model"];
	        this.provider = source["provider"];
	        this.inputTokens = source["inputTokens"];
	        this.outputTokens = source["outputTokens"];
	        this.cachedTokens = source["cachedTokens"];
	        this.durationMs = source["durationMs"];
	        this.attempts = source["attempts"];
	        this.retryOf = source["retryOf"];
	        this.error = this.convertValues(source["error"], ErrorView);
	        this.indexStatus = source["indexStatus"];
	        this.stateAfter = source["stateAfter"];
	        this.createdAt = source["createdAt"];
	        this.updatedAt = source["updatedAt"];
	        this.canContinue = source["canContinue"];
	        this.cost = source["cost"];
	        this.notice = source["notice"];
	        this.calls = this.convertValues(source["calls"], ToolCallView);
	        this.memories = source["memories"];
	        this.memoryError = source["memoryError"];
	        this.erasedAt = source["erasedAt"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class AnswerColumn {
	    branchId: string;
	    label: string;
	    active: boolean;
	    later: number;
	    turn: TurnView;
	
	    static createFrom(source: any = {}) {
	        return new AnswerColumn(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.branchId = source["branchId"];
	        this.label = source["label"];
	        this.active = source["active"];
	        this.later = source["later"];
	        this.turn = this.convertValues(source["turn"], TurnView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class AnswerSet {
	    rev: number;
	    seq: number;
	    user: BlockView[];
	    columns: AnswerColumn[];
	
	    static createFrom(source: any = {}) {
	        return new AnswerSet(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.seq = source["seq"];
	        this.user = this.convertValues(source["user"], BlockView);
	        this.columns = this.convertValues(source["columns"], AnswerColumn);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class AssistantView {
	    id: string;
	    name: string;
	    instructions: string;
	    model: string;
	    temperature: string;
	    effort: string;
	    toolsMode: string;
	
	    static createFrom(source: any = {}) {
	        return new AssistantView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.instructions = source["instructions"];
	        this.model = source["model"];
	        this.temperature = source["temperature"];
	        this.effort = source["effort"];
	        this.toolsMode = source["toolsMode"];
	    }
	}
	export class AttachPart {
	    branchId: string;
	    name: string;
	    upload: string;
	    data: string;
	    last: boolean;
	
	    static createFrom(source: any = {}) {
	        return new AttachPart(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.branchId = source["branchId"];
	        this.name = source["name"];
	        this.upload = source["upload"];
	        this.data = source["data"];
	        this.last = source["last"];
	    }
	}
	export class ImageUpload {
	    mediaType: string;
	    data: string;
	    name: string;
	
	    static createFrom(source: any = {}) {
	        return new ImageUpload(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.mediaType = source["mediaType"];
	        this.data = source["data"];
	        this.name = source["name"];
	    }
	}
	export class FileView {
	    id: string;
	    name: string;
	    mediaType: string;
	    tokens: number;
	
	    static createFrom(source: any = {}) {
	        return new FileView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.mediaType = source["mediaType"];
	        this.tokens = source["tokens"];
	    }
	}
	export class AttachResult {
	    upload: string;
	    file?: FileView;
	    image?: ImageUpload;
	
	    static createFrom(source: any = {}) {
	        return new AttachResult(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.upload = source["upload"];
	        this.file = this.convertValues(source["file"], FileView);
	        this.image = this.convertValues(source["image"], ImageUpload);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class AutostartView {
	    on: boolean;
	    other: string;
	    place: string;
	    why: string;
	
	    static createFrom(source: any = {}) {
	        return new AutostartView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.on = source["on"];
	        this.other = source["other"];
	        this.place = source["place"];
	        this.why = source["why"];
	    }
	}
	export class Background {
	    paused: boolean;
	    queued: number;
	    running: number;
	    dead: number;
	    trayHost: boolean;
	    closeHides: boolean;
	
	    static createFrom(source: any = {}) {
	        return new Background(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.paused = source["paused"];
	        this.queued = source["queued"];
	        this.running = source["running"];
	        this.dead = source["dead"];
	        this.trayHost = source["trayHost"];
	        this.closeHides = source["closeHides"];
	    }
	}
	export class BackupView {
	    path: string;
	    name: string;
	    kind: string;
	    at: number;
	    bytes: number;
	    sessions: number;
	    turns: number;
	    checked: boolean;
	    problem: string;
	    problems: number;
	
	    static createFrom(source: any = {}) {
	        return new BackupView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.name = source["name"];
	        this.kind = source["kind"];
	        this.at = source["at"];
	        this.bytes = source["bytes"];
	        this.sessions = source["sessions"];
	        this.turns = source["turns"];
	        this.checked = source["checked"];
	        this.problem = source["problem"];
	        this.problems = source["problems"];
	    }
	}
	
	export class PinView {
	    id: string;
	    text: string;
	    position: number;
	    tokens: number;
	    version: number;
	    createdAt: number;
	    inherited: boolean;
	
	    static createFrom(source: any = {}) {
	        return new PinView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.text = source["text"];
	        this.position = source["position"];
	        this.tokens = source["tokens"];
	        this.version = source["version"];
	        this.createdAt = source["createdAt"];
	        this.inherited = source["inherited"];
	    }
	}
	export class TreeBranch {
	    id: string;
	    label: string;
	    parentId: string;
	    forkSeq: number;
	    turns: number;
	    own: number;
	    pending: number;
	    headSeq: number;
	    headState: string;
	    headShortId: string;
	    archived: boolean;
	    active: boolean;
	    createdAt: number;
	    updatedAt: number;
	
	    static createFrom(source: any = {}) {
	        return new TreeBranch(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.label = source["label"];
	        this.parentId = source["parentId"];
	        this.forkSeq = source["forkSeq"];
	        this.turns = source["turns"];
	        this.own = source["own"];
	        this.pending = source["pending"];
	        this.headSeq = source["headSeq"];
	        this.headState = source["headState"];
	        this.headShortId = source["headShortId"];
	        this.archived = source["archived"];
	        this.active = source["active"];
	        this.createdAt = source["createdAt"];
	        this.updatedAt = source["updatedAt"];
	    }
	}
	export class BranchSide {
	    branch: TreeBranch;
	    fromSeq: number;
	    toSeq: number;
	    turns: TurnView[];
	    summary: string;
	    pins: PinView[];
	
	    static createFrom(source: any = {}) {
	        return new BranchSide(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.branch = this.convertValues(source["branch"], TreeBranch);
	        this.fromSeq = source["fromSeq"];
	        this.toSeq = source["toSeq"];
	        this.turns = this.convertValues(source["turns"], TurnView);
	        this.summary = source["summary"];
	        this.pins = this.convertValues(source["pins"], PinView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class BranchComparison {
	    shared: number;
	    lastTurn: string;
	    left: BranchSide;
	    right: BranchSide;
	
	    static createFrom(source: any = {}) {
	        return new BranchComparison(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.shared = source["shared"];
	        this.lastTurn = source["lastTurn"];
	        this.left = this.convertValues(source["left"], BranchSide);
	        this.right = this.convertValues(source["right"], BranchSide);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class TreeRun {
	    id: string;
	    parent: string;
	    branchId: string;
	    fromSeq: number;
	    toSeq: number;
	    firstTurn: string;
	    lastTurn: string;
	    first: string;
	    last: string;
	    ends: boolean;
	    headSeq: number;
	    pending: number;
	    open: number;
	    state: string;
	    updatedAt: number;
	
	    static createFrom(source: any = {}) {
	        return new TreeRun(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.parent = source["parent"];
	        this.branchId = source["branchId"];
	        this.fromSeq = source["fromSeq"];
	        this.toSeq = source["toSeq"];
	        this.firstTurn = source["firstTurn"];
	        this.lastTurn = source["lastTurn"];
	        this.first = source["first"];
	        this.last = source["last"];
	        this.ends = source["ends"];
	        this.headSeq = source["headSeq"];
	        this.pending = source["pending"];
	        this.open = source["open"];
	        this.state = source["state"];
	        this.updatedAt = source["updatedAt"];
	    }
	}
	export class BranchTree {
	    rev: number;
	    sessionId: string;
	    active: string;
	    turns: number;
	    runs: TreeRun[];
	    branches: TreeBranch[];
	
	    static createFrom(source: any = {}) {
	        return new BranchTree(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.sessionId = source["sessionId"];
	        this.active = source["active"];
	        this.turns = source["turns"];
	        this.runs = this.convertValues(source["runs"], TreeRun);
	        this.branches = this.convertValues(source["branches"], TreeBranch);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class BranchView {
	    id: string;
	    label: string;
	    parentId: string;
	    forkSeq: number;
	    turns: number;
	    headSeq: number;
	    headState: string;
	    updatedAt: number;
	    active: boolean;
	    archived: boolean;
	
	    static createFrom(source: any = {}) {
	        return new BranchView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.label = source["label"];
	        this.parentId = source["parentId"];
	        this.forkSeq = source["forkSeq"];
	        this.turns = source["turns"];
	        this.headSeq = source["headSeq"];
	        this.headState = source["headState"];
	        this.updatedAt = source["updatedAt"];
	        this.active = source["active"];
	        this.archived = source["archived"];
	    }
	}
	export class BudgetView {
	    modelLimit: number;
	    responseReserve: number;
	    safetyMargin: number;
	    inputBudget: number;
	    allowance: number;
	    summaries: number;
	    highWater: number;
	    lowWater: number;
	    calibration: number;
	
	    static createFrom(source: any = {}) {
	        return new BudgetView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.modelLimit = source["modelLimit"];
	        this.responseReserve = source["responseReserve"];
	        this.safetyMargin = source["safetyMargin"];
	        this.inputBudget = source["inputBudget"];
	        this.allowance = source["allowance"];
	        this.summaries = source["summaries"];
	        this.highWater = source["highWater"];
	        this.lowWater = source["lowWater"];
	        this.calibration = source["calibration"];
	    }
	}
	export class CheckReport {
	    problems: number;
	    findings: string[];
	
	    static createFrom(source: any = {}) {
	        return new CheckReport(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.problems = source["problems"];
	        this.findings = source["findings"];
	    }
	}
	export class ChunkUseView {
	    turnId: string;
	    turnSeq: number;
	    sessionId: string;
	    rank: number;
	    score: number;
	    form: string;
	    at: number;
	    tool: string;
	
	    static createFrom(source: any = {}) {
	        return new ChunkUseView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.turnId = source["turnId"];
	        this.turnSeq = source["turnSeq"];
	        this.sessionId = source["sessionId"];
	        this.rank = source["rank"];
	        this.score = source["score"];
	        this.form = source["form"];
	        this.at = source["at"];
	        this.tool = source["tool"];
	    }
	}
	export class ChunkRow {
	    id: string;
	    turnId: string;
	    turnSeq: number;
	    sessionId: string;
	    sessionTitle: string;
	    branchId: string;
	    role: string;
	    speaker: string;
	    type: string;
	    excerpt: string;
	    summary: string;
	    tokens: number;
	    document: string;
	    at: number;
	
	    static createFrom(source: any = {}) {
	        return new ChunkRow(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.turnId = source["turnId"];
	        this.turnSeq = source["turnSeq"];
	        this.sessionId = source["sessionId"];
	        this.sessionTitle = source["sessionTitle"];
	        this.branchId = source["branchId"];
	        this.role = source["role"];
	        this.speaker = source["speaker"];
	        this.type = source["type"];
	        this.excerpt = source["excerpt"];
	        this.summary = source["summary"];
	        this.tokens = source["tokens"];
	        this.document = source["document"];
	        this.at = source["at"];
	    }
	}
	export class ChunkDetail {
	    chunk: ChunkRow;
	    text: string;
	    start: number;
	    end: number;
	    embedders: string[];
	    uses: ChunkUseView[];
	
	    static createFrom(source: any = {}) {
	        return new ChunkDetail(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.chunk = this.convertValues(source["chunk"], ChunkRow);
	        this.text = source["text"];
	        this.start = source["start"];
	        this.end = source["end"];
	        this.embedders = source["embedders"];
	        this.uses = this.convertValues(source["uses"], ChunkUseView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ChunkPage {
	    total: number;
	    chunks: ChunkRow[];
	
	    static createFrom(source: any = {}) {
	        return new ChunkPage(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.total = source["total"];
	        this.chunks = this.convertValues(source["chunks"], ChunkRow);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	
	export class LookedUpView {
	    tool: string;
	    sessionId: string;
	    sessionTitle: string;
	    turnId: string;
	    turnSeq: number;
	
	    static createFrom(source: any = {}) {
	        return new LookedUpView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.tool = source["tool"];
	        this.sessionId = source["sessionId"];
	        this.sessionTitle = source["sessionTitle"];
	        this.turnId = source["turnId"];
	        this.turnSeq = source["turnSeq"];
	    }
	}
	export class RedactionView {
	    rule: string;
	    count: number;
	
	    static createFrom(source: any = {}) {
	        return new RedactionView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rule = source["rule"];
	        this.count = source["count"];
	    }
	}
	export class MatchWhy {
	    words: string[];
	    similarity?: number;
	    role: string;
	    reason: string;
	
	    static createFrom(source: any = {}) {
	        return new MatchWhy(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.words = source["words"];
	        this.similarity = source["similarity"];
	        this.role = source["role"];
	        this.reason = source["reason"];
	    }
	}
	export class RecalledView {
	    rank: number;
	    score: number;
	    form: string;
	    attached: boolean;
	    chunk?: ChunkRow;
	    why: MatchWhy;
	
	    static createFrom(source: any = {}) {
	        return new RecalledView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rank = source["rank"];
	        this.score = source["score"];
	        this.form = source["form"];
	        this.attached = source["attached"];
	        this.chunk = this.convertValues(source["chunk"], ChunkRow);
	        this.why = this.convertValues(source["why"], MatchWhy);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ContextItem {
	    source: string;
	    id: string;
	    seq: number;
	    from: number;
	    to: number;
	    role: string;
	    label: string;
	    tokens: number;
	    bytes: number;
	    text: string;
	    change: string;
	    turnId: string;
	    memory?: RecalledView;
	
	    static createFrom(source: any = {}) {
	        return new ContextItem(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.source = source["source"];
	        this.id = source["id"];
	        this.seq = source["seq"];
	        this.from = source["from"];
	        this.to = source["to"];
	        this.role = source["role"];
	        this.label = source["label"];
	        this.tokens = source["tokens"];
	        this.bytes = source["bytes"];
	        this.text = source["text"];
	        this.change = source["change"];
	        this.turnId = source["turnId"];
	        this.memory = this.convertValues(source["memory"], RecalledView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ContextSection {
	    name: string;
	    tokens: number;
	    cap: number;
	    items: ContextItem[];
	
	    static createFrom(source: any = {}) {
	        return new ContextSection(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.tokens = source["tokens"];
	        this.cap = source["cap"];
	        this.items = this.convertValues(source["items"], ContextItem);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ContextView {
	    turnId: string;
	    turnSeq: number;
	    model: string;
	    provider: string;
	    format: string;
	    state: string;
	    tokens: number;
	    ceiling: number;
	    reported: number;
	    cached: number;
	    maxOutput: number;
	    budget: BudgetView;
	    cut: number;
	    sections: ContextSection[];
	    shrink: string[];
	    usageNote?: string;
	    retrievalError: string;
	    dropped: number[];
	    scope: string;
	    project: string;
	    redacted: RedactionView[];
	    sha256: string;
	    same: boolean;
	    note: string;
	    stepId: string;
	    error?: ErrorView;
	    lookedUp: LookedUpView[];
	
	    static createFrom(source: any = {}) {
	        return new ContextView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.turnId = source["turnId"];
	        this.turnSeq = source["turnSeq"];
	        this.model = source["model"];
	        this.provider = source["provider"];
	        this.format = source["format"];
	        this.state = source["state"];
	        this.tokens = source["tokens"];
	        this.ceiling = source["ceiling"];
	        this.reported = source["reported"];
	        this.cached = source["cached"];
	        this.maxOutput = source["maxOutput"];
	        this.budget = this.convertValues(source["budget"], BudgetView);
	        this.cut = source["cut"];
	        this.sections = this.convertValues(source["sections"], ContextSection);
	        this.shrink = source["shrink"];
	        this.usageNote = source["usageNote"];
	        this.retrievalError = source["retrievalError"];
	        this.dropped = source["dropped"];
	        this.scope = source["scope"];
	        this.project = source["project"];
	        this.redacted = this.convertValues(source["redacted"], RedactionView);
	        this.sha256 = source["sha256"];
	        this.same = source["same"];
	        this.note = source["note"];
	        this.stepId = source["stepId"];
	        this.error = this.convertValues(source["error"], ErrorView);
	        this.lookedUp = this.convertValues(source["lookedUp"], LookedUpView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ContextDiff {
	    from: ContextView;
	    to: ContextView;
	    removed: ContextItem[];
	    added: ContextItem[];
	    sharedBytes: number;
	    totalBytes: number;
	
	    static createFrom(source: any = {}) {
	        return new ContextDiff(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.from = this.convertValues(source["from"], ContextView);
	        this.to = this.convertValues(source["to"], ContextView);
	        this.removed = this.convertValues(source["removed"], ContextItem);
	        this.added = this.convertValues(source["added"], ContextItem);
	        this.sharedBytes = source["sharedBytes"];
	        this.totalBytes = source["totalBytes"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	
	
	export class CostView {
	    turn: string;
	    session: string;
	    month: string;
	    estimate: boolean;
	    pricesDate: string;
	    unpriced: number;
	    budget: string;
	    state: string;
	
	    static createFrom(source: any = {}) {
	        return new CostView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.turn = source["turn"];
	        this.session = source["session"];
	        this.month = source["month"];
	        this.estimate = source["estimate"];
	        this.pricesDate = source["pricesDate"];
	        this.unpriced = source["unpriced"];
	        this.budget = source["budget"];
	        this.state = source["state"];
	    }
	}
	export class CountedNote {
	    text: string;
	    count: number;
	
	    static createFrom(source: any = {}) {
	        return new CountedNote(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.text = source["text"];
	        this.count = source["count"];
	    }
	}
	export class DegradedTurn {
	    turnId: string;
	    turnSeq: number;
	    sessionId: string;
	    title: string;
	    jobId: number;
	    error: string;
	
	    static createFrom(source: any = {}) {
	        return new DegradedTurn(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.turnId = source["turnId"];
	        this.turnSeq = source["turnSeq"];
	        this.sessionId = source["sessionId"];
	        this.title = source["title"];
	        this.jobId = source["jobId"];
	        this.error = source["error"];
	    }
	}
	export class ErasedPart {
	    store: string;
	    label: string;
	    count: number;
	
	    static createFrom(source: any = {}) {
	        return new ErasedPart(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.store = source["store"];
	        this.label = source["label"];
	        this.count = source["count"];
	    }
	}
	export class DeletePreview {
	    kind: string;
	    title: string;
	    confirm: string;
	    parts: ErasedPart[];
	    sessions: string[];
	    backups: string[];
	    reason: string;
	
	    static createFrom(source: any = {}) {
	        return new DeletePreview(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.kind = source["kind"];
	        this.title = source["title"];
	        this.confirm = source["confirm"];
	        this.parts = this.convertValues(source["parts"], ErasedPart);
	        this.sessions = source["sessions"];
	        this.backups = source["backups"];
	        this.reason = source["reason"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class DocumentView {
	    file: FileView;
	    text: string;
	
	    static createFrom(source: any = {}) {
	        return new DocumentView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.file = this.convertValues(source["file"], FileView);
	        this.text = source["text"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class MemoryChip {
	    id: string;
	    label: string;
	    title: string;
	
	    static createFrom(source: any = {}) {
	        return new MemoryChip(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.label = source["label"];
	        this.title = source["title"];
	    }
	}
	export class Draft {
	    text: string;
	    images: ImageUpload[];
	    files: FileView[];
	    memories: MemoryChip[];
	    queued: boolean;
	
	    static createFrom(source: any = {}) {
	        return new Draft(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.text = source["text"];
	        this.images = this.convertValues(source["images"], ImageUpload);
	        this.files = this.convertValues(source["files"], FileView);
	        this.memories = this.convertValues(source["memories"], MemoryChip);
	        this.queued = source["queued"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class DroppedFile {
	    path: string;
	    name: string;
	    size: number;
	    kind: string;
	    format: string;
	    reason: string;
	
	    static createFrom(source: any = {}) {
	        return new DroppedFile(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.name = source["name"];
	        this.size = source["size"];
	        this.kind = source["kind"];
	        this.format = source["format"];
	        this.reason = source["reason"];
	    }
	}
	export class ElicitationValue {
	    name: string;
	    values: string[];
	
	    static createFrom(source: any = {}) {
	        return new ElicitationValue(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.values = source["values"];
	    }
	}
	export class ElicitationAnswer {
	    id: string;
	    action: string;
	    values: ElicitationValue[];
	
	    static createFrom(source: any = {}) {
	        return new ElicitationAnswer(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.action = source["action"];
	        this.values = this.convertValues(source["values"], ElicitationValue);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ElicitationChoice {
	    value: string;
	    title: string;
	
	    static createFrom(source: any = {}) {
	        return new ElicitationChoice(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.value = source["value"];
	        this.title = source["title"];
	    }
	}
	export class ElicitationField {
	    name: string;
	    title: string;
	    description: string;
	    type: string;
	    format: string;
	    required: boolean;
	    default: string[];
	    choices: ElicitationChoice[];
	    min: string;
	    max: string;
	
	    static createFrom(source: any = {}) {
	        return new ElicitationField(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.title = source["title"];
	        this.description = source["description"];
	        this.type = source["type"];
	        this.format = source["format"];
	        this.required = source["required"];
	        this.default = source["default"];
	        this.choices = this.convertValues(source["choices"], ElicitationChoice);
	        this.min = source["min"];
	        this.max = source["max"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class ElicitationView {
	    id: string;
	    server: string;
	    mode: string;
	    message: string;
	    url: string;
	    host: string;
	    fields: ElicitationField[];
	    askedAt: number;
	
	    static createFrom(source: any = {}) {
	        return new ElicitationView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.server = source["server"];
	        this.mode = source["mode"];
	        this.message = source["message"];
	        this.url = source["url"];
	        this.host = source["host"];
	        this.fields = this.convertValues(source["fields"], ElicitationField);
	        this.askedAt = source["askedAt"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Elicitations {
	    rev: number;
	    asked: ElicitationView[];
	
	    static createFrom(source: any = {}) {
	        return new Elicitations(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.asked = this.convertValues(source["asked"], ElicitationView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class EmbedderEstimate {
	    units: number;
	    tokens: number;
	    cost: number;
	    ms: number;
	
	    static createFrom(source: any = {}) {
	        return new EmbedderEstimate(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.units = source["units"];
	        this.tokens = source["tokens"];
	        this.cost = source["cost"];
	        this.ms = source["ms"];
	    }
	}
	export class EmbedderView {
	    id: string;
	    server: string;
	    model: string;
	    host: string;
	    remote: boolean;
	    builtIn: boolean;
	    price: number;
	
	    static createFrom(source: any = {}) {
	        return new EmbedderView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.server = source["server"];
	        this.model = source["model"];
	        this.host = source["host"];
	        this.remote = source["remote"];
	        this.builtIn = source["builtIn"];
	        this.price = source["price"];
	    }
	}
	export class EmbeddersView {
	    current: EmbedderView;
	    options: EmbedderView[];
	    offer: string;
	    units: number;
	    tokens: number;
	
	    static createFrom(source: any = {}) {
	        return new EmbeddersView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.current = this.convertValues(source["current"], EmbedderView);
	        this.options = this.convertValues(source["options"], EmbedderView);
	        this.offer = source["offer"];
	        this.units = source["units"];
	        this.tokens = source["tokens"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	
	export class ExportPlan {
	    name: string;
	    path: string;
	    exists: boolean;
	    sessions: number;
	    branches: number;
	    turns: number;
	    open: number;
	
	    static createFrom(source: any = {}) {
	        return new ExportPlan(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.path = source["path"];
	        this.exists = source["exists"];
	        this.sessions = source["sessions"];
	        this.branches = source["branches"];
	        this.turns = source["turns"];
	        this.open = source["open"];
	    }
	}
	export class ExportRequest {
	    scope: string;
	    sessionId: string;
	    branchId: string;
	    turnId: string;
	    allBranches: boolean;
	    format: string;
	    archived: boolean;
	    path: string;
	    replace: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ExportRequest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.scope = source["scope"];
	        this.sessionId = source["sessionId"];
	        this.branchId = source["branchId"];
	        this.turnId = source["turnId"];
	        this.allBranches = source["allBranches"];
	        this.format = source["format"];
	        this.archived = source["archived"];
	        this.path = source["path"];
	        this.replace = source["replace"];
	    }
	}
	
	export class Span {
	    from: number;
	    to: number;
	
	    static createFrom(source: any = {}) {
	        return new Span(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.from = source["from"];
	        this.to = source["to"];
	    }
	}
	export class FindHit {
	    turnId: string;
	    seq: number;
	    count: number;
	    first: string;
	    marks: Span[];
	
	    static createFrom(source: any = {}) {
	        return new FindHit(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.turnId = source["turnId"];
	        this.seq = source["seq"];
	        this.count = source["count"];
	        this.first = source["first"];
	        this.marks = this.convertValues(source["marks"], Span);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class FindResult {
	    hits: FindHit[];
	    total: number;
	    truncated: boolean;
	
	    static createFrom(source: any = {}) {
	        return new FindResult(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.hits = this.convertValues(source["hits"], FindHit);
	        this.total = source["total"];
	        this.truncated = source["truncated"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Folder {
	    name: string;
	    sessions: number;
	
	    static createFrom(source: any = {}) {
	        return new Folder(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.sessions = source["sessions"];
	    }
	}
	export class Header {
	    sessionId: string;
	    sessionTitle: string;
	    branchId: string;
	    branchLabel: string;
	    headSeq: number;
	    headShortId: string;
	    pending: number;
	    turnId: string;
	    turnSeq: number;
	    phase: string;
	    outcome: string;
	    displayed: number;
	    durable: number;
	    contextTokens: number;
	    contextRecalled: number;
	    contextCeiling: number;
	    summaries: number;
	    extracts: number;
	    infinity: boolean;
	    contextState: string;
	    contextFormat: string;
	    model: string;
	    modelWindow: number;
	    projectId: string;
	    project: string;
	    scope: string;
	    ownScope: string;
	
	    static createFrom(source: any = {}) {
	        return new Header(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.sessionId = source["sessionId"];
	        this.sessionTitle = source["sessionTitle"];
	        this.branchId = source["branchId"];
	        this.branchLabel = source["branchLabel"];
	        this.headSeq = source["headSeq"];
	        this.headShortId = source["headShortId"];
	        this.pending = source["pending"];
	        this.turnId = source["turnId"];
	        this.turnSeq = source["turnSeq"];
	        this.phase = source["phase"];
	        this.outcome = source["outcome"];
	        this.displayed = source["displayed"];
	        this.durable = source["durable"];
	        this.contextTokens = source["contextTokens"];
	        this.contextRecalled = source["contextRecalled"];
	        this.contextCeiling = source["contextCeiling"];
	        this.summaries = source["summaries"];
	        this.extracts = source["extracts"];
	        this.infinity = source["infinity"];
	        this.contextState = source["contextState"];
	        this.contextFormat = source["contextFormat"];
	        this.model = source["model"];
	        this.modelWindow = source["modelWindow"];
	        this.projectId = source["projectId"];
	        this.project = source["project"];
	        this.scope = source["scope"];
	        this.ownScope = source["ownScope"];
	    }
	}
	
	export class Instructed {
	    sessionId: string;
	    title: string;
	    begins: string;
	
	    static createFrom(source: any = {}) {
	        return new Instructed(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.sessionId = source["sessionId"];
	        this.title = source["title"];
	        this.begins = source["begins"];
	    }
	}
	export class SkippedRow {
	    file: string;
	    index: number;
	    id: string;
	    title: string;
	    offset: number;
	    reason: string;
	
	    static createFrom(source: any = {}) {
	        return new SkippedRow(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.file = source["file"];
	        this.index = source["index"];
	        this.id = source["id"];
	        this.title = source["title"];
	        this.offset = source["offset"];
	        this.reason = source["reason"];
	    }
	}
	export class ImportReport {
	    file: string;
	    format: string;
	    sessions: number;
	    grown: number;
	    already: number;
	    turns: number;
	    branches: number;
	    skippedCount: number;
	    skipped: SkippedRow[];
	    notices: CountedNote[];
	    instructed: number;
	    instructions: Instructed[];
	    torn: boolean;
	    cancelled: boolean;
	    firstSession: string;
	    copied: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ImportReport(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.file = source["file"];
	        this.format = source["format"];
	        this.sessions = source["sessions"];
	        this.grown = source["grown"];
	        this.already = source["already"];
	        this.turns = source["turns"];
	        this.branches = source["branches"];
	        this.skippedCount = source["skippedCount"];
	        this.skipped = this.convertValues(source["skipped"], SkippedRow);
	        this.notices = this.convertValues(source["notices"], CountedNote);
	        this.instructed = source["instructed"];
	        this.instructions = this.convertValues(source["instructions"], Instructed);
	        this.torn = source["torn"];
	        this.cancelled = source["cancelled"];
	        this.firstSession = source["firstSession"];
	        this.copied = source["copied"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ImportedInstructions {
	    source: string;
	    text: string;
	    cut: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ImportedInstructions(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.source = source["source"];
	        this.text = source["text"];
	        this.cut = source["cut"];
	    }
	}
	export class ServerQuestion {
	    key: string;
	    title: string;
	    description: string;
	    type: string;
	    required: boolean;
	    secret: boolean;
	    multiple: boolean;
	    default: string;
	    known: boolean;
	    choices: string[];
	
	    static createFrom(source: any = {}) {
	        return new ServerQuestion(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.key = source["key"];
	        this.title = source["title"];
	        this.description = source["description"];
	        this.type = source["type"];
	        this.required = source["required"];
	        this.secret = source["secret"];
	        this.multiple = source["multiple"];
	        this.default = source["default"];
	        this.known = source["known"];
	        this.choices = source["choices"];
	    }
	}
	export class ServerValue {
	    name: string;
	    value: string;
	    secret: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ServerValue(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.value = source["value"];
	        this.secret = source["secret"];
	    }
	}
	export class ServerSettings {
	    name: string;
	    enabled: boolean;
	    command: string;
	    args: string[];
	    cwd: string;
	    url: string;
	    timeoutS: number;
	    env: ServerValue[];
	    headers: ServerValue[];
	    oauthClientId: string;
	    oauthPort: number;
	
	    static createFrom(source: any = {}) {
	        return new ServerSettings(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.enabled = source["enabled"];
	        this.command = source["command"];
	        this.args = source["args"];
	        this.cwd = source["cwd"];
	        this.url = source["url"];
	        this.timeoutS = source["timeoutS"];
	        this.env = this.convertValues(source["env"], ServerValue);
	        this.headers = this.convertValues(source["headers"], ServerValue);
	        this.oauthClientId = source["oauthClientId"];
	        this.oauthPort = source["oauthPort"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ImportedServer {
	    settings: ServerSettings;
	    original: string;
	    exists: boolean;
	    about: string;
	    notes: string[];
	    asks: ServerQuestion[];
	
	    static createFrom(source: any = {}) {
	        return new ImportedServer(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.settings = this.convertValues(source["settings"], ServerSettings);
	        this.original = source["original"];
	        this.exists = source["exists"];
	        this.about = source["about"];
	        this.notes = source["notes"];
	        this.asks = this.convertValues(source["asks"], ServerQuestion);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class IndexSpace {
	    embedder: string;
	    state: string;
	    done: number;
	    total: number;
	    error: string;
	
	    static createFrom(source: any = {}) {
	        return new IndexSpace(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.embedder = source["embedder"];
	        this.state = source["state"];
	        this.done = source["done"];
	        this.total = source["total"];
	        this.error = source["error"];
	    }
	}
	export class IndexStatus {
	    on: boolean;
	    scope: string;
	    units: number;
	    spaces: IndexSpace[];
	    degraded: DegradedTurn[];
	
	    static createFrom(source: any = {}) {
	        return new IndexStatus(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.on = source["on"];
	        this.scope = source["scope"];
	        this.units = source["units"];
	        this.spaces = this.convertValues(source["spaces"], IndexSpace);
	        this.degraded = this.convertValues(source["degraded"], DegradedTurn);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	
	export class KeyTest {
	    ok: boolean;
	    ms: number;
	    message: string;
	    models: string[];
	    provider: string;
	    vendor: string;
	    server: string;
	
	    static createFrom(source: any = {}) {
	        return new KeyTest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.ok = source["ok"];
	        this.ms = source["ms"];
	        this.message = source["message"];
	        this.models = source["models"];
	        this.provider = source["provider"];
	        this.vendor = source["vendor"];
	        this.server = source["server"];
	    }
	}
	export class KeyView {
	    provider: string;
	    source: string;
	    env: string;
	    baseUrl: string;
	    models: string[];
	    needed: boolean;
	    keyringOk: boolean;
	
	    static createFrom(source: any = {}) {
	        return new KeyView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.provider = source["provider"];
	        this.source = source["source"];
	        this.env = source["env"];
	        this.baseUrl = source["baseUrl"];
	        this.models = source["models"];
	        this.needed = source["needed"];
	        this.keyringOk = source["keyringOk"];
	    }
	}
	export class KnownItem {
	    kind: string;
	    id: string;
	    sessionId: string;
	    sessionTitle: string;
	    archived: boolean;
	    branchId: string;
	    turnId: string;
	    turnSeq: number;
	    at: number;
	    text: string;
	
	    static createFrom(source: any = {}) {
	        return new KnownItem(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.kind = source["kind"];
	        this.id = source["id"];
	        this.sessionId = source["sessionId"];
	        this.sessionTitle = source["sessionTitle"];
	        this.archived = source["archived"];
	        this.branchId = source["branchId"];
	        this.turnId = source["turnId"];
	        this.turnSeq = source["turnSeq"];
	        this.at = source["at"];
	        this.text = source["text"];
	    }
	}
	export class KnownPage {
	    total: number;
	    items: KnownItem[];
	
	    static createFrom(source: any = {}) {
	        return new KnownPage(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.total = source["total"];
	        this.items = this.convertValues(source["items"], KnownItem);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class PromptVariableView {
	    name: string;
	    default: string;
	    builtin: boolean;
	
	    static createFrom(source: any = {}) {
	        return new PromptVariableView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.default = source["default"];
	        this.builtin = source["builtin"];
	    }
	}
	export class SavedPromptView {
	    id: string;
	    name: string;
	    text: string;
	    variables: PromptVariableView[];
	
	    static createFrom(source: any = {}) {
	        return new SavedPromptView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.text = source["text"];
	        this.variables = this.convertValues(source["variables"], PromptVariableView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class LibraryPanel {
	    rev: number;
	    assistants: AssistantView[];
	    prompts: SavedPromptView[];
	
	    static createFrom(source: any = {}) {
	        return new LibraryPanel(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.assistants = this.convertValues(source["assistants"], AssistantView);
	        this.prompts = this.convertValues(source["prompts"], SavedPromptView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class LocalServer {
	    name: string;
	    baseUrl: string;
	    models: string[];
	
	    static createFrom(source: any = {}) {
	        return new LocalServer(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.baseUrl = source["baseUrl"];
	        this.models = source["models"];
	    }
	}
	
	
	
	export class MemoryFilter {
	    scope: string;
	    sessionId: string;
	    branchId: string;
	    type: string;
	    role: string;
	    since: number;
	    until: number;
	    text: string;
	    offset: number;
	    limit: number;
	
	    static createFrom(source: any = {}) {
	        return new MemoryFilter(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.scope = source["scope"];
	        this.sessionId = source["sessionId"];
	        this.branchId = source["branchId"];
	        this.type = source["type"];
	        this.role = source["role"];
	        this.since = source["since"];
	        this.until = source["until"];
	        this.text = source["text"];
	        this.offset = source["offset"];
	        this.limit = source["limit"];
	    }
	}
	export class MemoryHit {
	    chunk: ChunkRow;
	    rank: number;
	    score: number;
	    why: MatchWhy;
	
	    static createFrom(source: any = {}) {
	        return new MemoryHit(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.chunk = this.convertValues(source["chunk"], ChunkRow);
	        this.rank = source["rank"];
	        this.score = source["score"];
	        this.why = this.convertValues(source["why"], MatchWhy);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class MemorySearch {
	    hits: MemoryHit[];
	    candidates: number;
	    embedder: string;
	    warning: string;
	    totalMs: number;
	    embedMs: number;
	    vectorMs: number;
	    keywordMs: number;
	
	    static createFrom(source: any = {}) {
	        return new MemorySearch(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.hits = this.convertValues(source["hits"], MemoryHit);
	        this.candidates = source["candidates"];
	        this.embedder = source["embedder"];
	        this.warning = source["warning"];
	        this.totalMs = source["totalMs"];
	        this.embedMs = source["embedMs"];
	        this.vectorMs = source["vectorMs"];
	        this.keywordMs = source["keywordMs"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class MetricPoint {
	    session: string;
	    title: string;
	    at: number;
	    model: string;
	    cost: number;
	    turn: TurnMetrics;
	
	    static createFrom(source: any = {}) {
	        return new MetricPoint(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.session = source["session"];
	        this.title = source["title"];
	        this.at = source["at"];
	        this.model = source["model"];
	        this.cost = source["cost"];
	        this.turn = this.convertValues(source["turn"], TurnMetrics);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class MetricsQuery {
	    scope: string;
	    sessionId: string;
	    branchId: string;
	    limit: number;
	
	    static createFrom(source: any = {}) {
	        return new MetricsQuery(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.scope = source["scope"];
	        this.sessionId = source["sessionId"];
	        this.branchId = source["branchId"];
	        this.limit = source["limit"];
	    }
	}
	export class MetricsSeries {
	    points: MetricPoint[];
	    inputTokens: number;
	    outputTokens: number;
	    cachedTokens: number;
	    cost: string;
	    unpriced: number;
	
	    static createFrom(source: any = {}) {
	        return new MetricsSeries(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.points = this.convertValues(source["points"], MetricPoint);
	        this.inputTokens = source["inputTokens"];
	        this.outputTokens = source["outputTokens"];
	        this.cachedTokens = source["cachedTokens"];
	        this.cost = source["cost"];
	        this.unpriced = source["unpriced"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class MovePreview {
	    from: string;
	    to: string;
	    bytes: number;
	    free: number;
	    reason: string;
	
	    static createFrom(source: any = {}) {
	        return new MovePreview(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.from = source["from"];
	        this.to = source["to"];
	        this.bytes = source["bytes"];
	        this.free = source["free"];
	        this.reason = source["reason"];
	    }
	}
	export class OfferView {
	    modelId: string;
	    configured: string;
	    window: number;
	    maxOutput: number;
	    images: string;
	    tools: string;
	    reasoning: string;
	    priceInput: number;
	    priceOutput: number;
	    priceSource: string;
	
	    static createFrom(source: any = {}) {
	        return new OfferView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.modelId = source["modelId"];
	        this.configured = source["configured"];
	        this.window = source["window"];
	        this.maxOutput = source["maxOutput"];
	        this.images = source["images"];
	        this.tools = source["tools"];
	        this.reasoning = source["reasoning"];
	        this.priceInput = source["priceInput"];
	        this.priceOutput = source["priceOutput"];
	        this.priceSource = source["priceSource"];
	    }
	}
	export class PendingView {
	    turnId: string;
	    seq: number;
	    title: string;
	    tokens: number;
	    why: string;
	    waitsFor: string;
	    inContext: boolean;
	    job: JobView;
	    createdAt: number;
	
	    static createFrom(source: any = {}) {
	        return new PendingView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.turnId = source["turnId"];
	        this.seq = source["seq"];
	        this.title = source["title"];
	        this.tokens = source["tokens"];
	        this.why = source["why"];
	        this.waitsFor = source["waitsFor"];
	        this.inContext = source["inContext"];
	        this.job = this.convertValues(source["job"], JobView);
	        this.createdAt = source["createdAt"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class PinSuggestion {
	    id: string;
	    turnId: string;
	    turnSeq: number;
	    text: string;
	
	    static createFrom(source: any = {}) {
	        return new PinSuggestion(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.turnId = source["turnId"];
	        this.turnSeq = source["turnSeq"];
	        this.text = source["text"];
	    }
	}
	
	export class PlaceView {
	    id: string;
	    name: string;
	    protocol: string;
	    baseUrl: string;
	    env: string;
	    local: boolean;
	
	    static createFrom(source: any = {}) {
	        return new PlaceView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.protocol = source["protocol"];
	        this.baseUrl = source["baseUrl"];
	        this.env = source["env"];
	        this.local = source["local"];
	    }
	}
	export class PresetView {
	    id: string;
	    name: string;
	    protocol: string;
	    baseUrl: string;
	    env: string;
	    local: boolean;
	    note: string;
	
	    static createFrom(source: any = {}) {
	        return new PresetView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.protocol = source["protocol"];
	        this.baseUrl = source["baseUrl"];
	        this.env = source["env"];
	        this.local = source["local"];
	        this.note = source["note"];
	    }
	}
	export class ProgramShownView {
	    sessionId: string;
	    session: string;
	    turnId: string;
	
	    static createFrom(source: any = {}) {
	        return new ProgramShownView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.sessionId = source["sessionId"];
	        this.session = source["session"];
	        this.turnId = source["turnId"];
	    }
	}
	export class ProgramAccessView {
	    id: number;
	    at: number;
	    client: string;
	    tool: string;
	    query: string;
	    outcome: string;
	    shown: ProgramShownView[];
	    more: number;
	
	    static createFrom(source: any = {}) {
	        return new ProgramAccessView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.at = source["at"];
	        this.client = source["client"];
	        this.tool = source["tool"];
	        this.query = source["query"];
	        this.outcome = source["outcome"];
	        this.shown = this.convertValues(source["shown"], ProgramShownView);
	        this.more = source["more"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ProgramAccessPage {
	    accesses: ProgramAccessView[];
	    next: number;
	
	    static createFrom(source: any = {}) {
	        return new ProgramAccessPage(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.accesses = this.convertValues(source["accesses"], ProgramAccessView);
	        this.next = source["next"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class ProgramChoice {
	    name: string;
	    scope: string;
	    sessions: string[];
	    folders: string[];
	    remember: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ProgramChoice(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.scope = source["scope"];
	        this.sessions = source["sessions"];
	        this.folders = source["folders"];
	        this.remember = source["remember"];
	    }
	}
	export class ProgramSessionView {
	    id: string;
	    title: string;
	
	    static createFrom(source: any = {}) {
	        return new ProgramSessionView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.title = source["title"];
	    }
	}
	export class ProgramClientView {
	    name: string;
	    scope: string;
	    sessions: ProgramSessionView[];
	    folders: string[];
	    remember: boolean;
	    claims: string;
	    tokenAt: number;
	    createdAt: number;
	    seenAt: number;
	    notes: string;
	
	    static createFrom(source: any = {}) {
	        return new ProgramClientView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.scope = source["scope"];
	        this.sessions = this.convertValues(source["sessions"], ProgramSessionView);
	        this.folders = source["folders"];
	        this.remember = source["remember"];
	        this.claims = source["claims"];
	        this.tokenAt = source["tokenAt"];
	        this.createdAt = source["createdAt"];
	        this.seenAt = source["seenAt"];
	        this.notes = source["notes"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	
	export class ProgramSnippetView {
	    program: string;
	    file: string;
	    text: string;
	
	    static createFrom(source: any = {}) {
	        return new ProgramSnippetView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.program = source["program"];
	        this.file = source["file"];
	        this.text = source["text"];
	    }
	}
	export class ProgramToken {
	    name: string;
	    token: string;
	    snippet: string;
	
	    static createFrom(source: any = {}) {
	        return new ProgramToken(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.token = source["token"];
	        this.snippet = source["snippet"];
	    }
	}
	export class ProgramsHTTPView {
	    on: boolean;
	    running: boolean;
	    url: string;
	    problem: string;
	
	    static createFrom(source: any = {}) {
	        return new ProgramsHTTPView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.on = source["on"];
	        this.running = source["running"];
	        this.url = source["url"];
	        this.problem = source["problem"];
	    }
	}
	export class ProgramsPanel {
	    rev: number;
	    http: ProgramsHTTPView;
	    clients: ProgramClientView[];
	    snippets: ProgramSnippetView[];
	    folders: string[];
	
	    static createFrom(source: any = {}) {
	        return new ProgramsPanel(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.http = this.convertValues(source["http"], ProgramsHTTPView);
	        this.clients = this.convertValues(source["clients"], ProgramClientView);
	        this.snippets = this.convertValues(source["snippets"], ProgramSnippetView);
	        this.folders = source["folders"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ProjectFileView {
	    path: string;
	    id: string;
	    mediaType: string;
	    size: number;
	    tokens: number;
	    modifiedAt: number;
	    indexed: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ProjectFileView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.id = source["id"];
	        this.mediaType = source["mediaType"];
	        this.size = source["size"];
	        this.tokens = source["tokens"];
	        this.modifiedAt = source["modifiedAt"];
	        this.indexed = source["indexed"];
	    }
	}
	export class ProjectFilesPage {
	    total: number;
	    files: ProjectFileView[];
	
	    static createFrom(source: any = {}) {
	        return new ProjectFilesPage(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.total = source["total"];
	        this.files = this.convertValues(source["files"], ProjectFileView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ProjectRow {
	    id: string;
	    name: string;
	    sessions: number;
	    files: number;
	
	    static createFrom(source: any = {}) {
	        return new ProjectRow(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.sessions = source["sessions"];
	        this.files = source["files"];
	    }
	}
	export class SkippedFileView {
	    path: string;
	    why: string;
	
	    static createFrom(source: any = {}) {
	        return new SkippedFileView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.why = source["why"];
	    }
	}
	export class SkippedCount {
	    why: string;
	    count: number;
	
	    static createFrom(source: any = {}) {
	        return new SkippedCount(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.why = source["why"];
	        this.count = source["count"];
	    }
	}
	export class ProjectScanView {
	    at: number;
	    found: number;
	    new: string[];
	    changed: string[];
	    removed: string[];
	    newCount: number;
	    changedCount: number;
	    removedCount: number;
	    skipped: SkippedCount[];
	    skippedFiles: SkippedFileView[];
	    error: string;
	
	    static createFrom(source: any = {}) {
	        return new ProjectScanView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.at = source["at"];
	        this.found = source["found"];
	        this.new = source["new"];
	        this.changed = source["changed"];
	        this.removed = source["removed"];
	        this.newCount = source["newCount"];
	        this.changedCount = source["changedCount"];
	        this.removedCount = source["removedCount"];
	        this.skipped = this.convertValues(source["skipped"], SkippedCount);
	        this.skippedFiles = this.convertValues(source["skippedFiles"], SkippedFileView);
	        this.error = source["error"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ProjectView {
	    id: string;
	    name: string;
	    instructions: string;
	    model: string;
	    toolsMode: string;
	    tools: string[];
	    facts: string[];
	    watch: string;
	    sessions: number;
	    files: number;
	    scan?: ProjectScanView;
	
	    static createFrom(source: any = {}) {
	        return new ProjectView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.instructions = source["instructions"];
	        this.model = source["model"];
	        this.toolsMode = source["toolsMode"];
	        this.tools = source["tools"];
	        this.facts = source["facts"];
	        this.watch = source["watch"];
	        this.sessions = source["sessions"];
	        this.files = source["files"];
	        this.scan = this.convertValues(source["scan"], ProjectScanView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ProjectsPanel {
	    rev: number;
	    projects: ProjectRow[];
	
	    static createFrom(source: any = {}) {
	        return new ProjectsPanel(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.projects = this.convertValues(source["projects"], ProjectRow);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class PromptArgumentView {
	    name: string;
	    title: string;
	    description: string;
	    required: boolean;
	
	    static createFrom(source: any = {}) {
	        return new PromptArgumentView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.title = source["title"];
	        this.description = source["description"];
	        this.required = source["required"];
	    }
	}
	export class PromptMessageView {
	    role: string;
	    blocks: BlockView[];
	
	    static createFrom(source: any = {}) {
	        return new PromptMessageView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.role = source["role"];
	        this.blocks = this.convertValues(source["blocks"], BlockView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class PromptText {
	    server: string;
	    name: string;
	    description: string;
	    messages: PromptMessageView[];
	
	    static createFrom(source: any = {}) {
	        return new PromptText(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.server = source["server"];
	        this.name = source["name"];
	        this.description = source["description"];
	        this.messages = this.convertValues(source["messages"], PromptMessageView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class PromptsImported {
	    added: number;
	    known: number;
	
	    static createFrom(source: any = {}) {
	        return new PromptsImported(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.added = source["added"];
	        this.known = source["known"];
	    }
	}
	export class RangeView {
	    id: string;
	    fromSeq: number;
	    toSeq: number;
	    tokens: number;
	    originalTokens: number;
	    by: string;
	    content: string;
	    validation: string;
	    orphan: boolean;
	    inUse: boolean;
	    createdAt: number;
	
	    static createFrom(source: any = {}) {
	        return new RangeView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.fromSeq = source["fromSeq"];
	        this.toSeq = source["toSeq"];
	        this.tokens = source["tokens"];
	        this.originalTokens = source["originalTokens"];
	        this.by = source["by"];
	        this.content = source["content"];
	        this.validation = source["validation"];
	        this.orphan = source["orphan"];
	        this.inUse = source["inUse"];
	        this.createdAt = source["createdAt"];
	    }
	}
	export class RawEvent {
	    type: string;
	    data: string;
	
	    static createFrom(source: any = {}) {
	        return new RawEvent(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.type = source["type"];
	        this.data = source["data"];
	    }
	}
	export class RawStep {
	    request: string;
	    response: string;
	    events: RawEvent[];
	    leftOut: number;
	    leftOutAfter: number;
	    leftOutBytes: number;
	
	    static createFrom(source: any = {}) {
	        return new RawStep(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.request = source["request"];
	        this.response = source["response"];
	        this.events = this.convertValues(source["events"], RawEvent);
	        this.leftOut = source["leftOut"];
	        this.leftOutAfter = source["leftOutAfter"];
	        this.leftOutBytes = source["leftOutBytes"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class ReceiptView {
	    id: string;
	    kind: string;
	    subject: string;
	    at: number;
	    parts: ErasedPart[];
	    backups: string[];
	
	    static createFrom(source: any = {}) {
	        return new ReceiptView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.kind = source["kind"];
	        this.subject = source["subject"];
	        this.at = source["at"];
	        this.parts = this.convertValues(source["parts"], ErasedPart);
	        this.backups = source["backups"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	
	
	export class ResourceText {
	    server: string;
	    uri: string;
	    name: string;
	    blocks: BlockView[];
	
	    static createFrom(source: any = {}) {
	        return new ResourceText(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.server = source["server"];
	        this.uri = source["uri"];
	        this.name = source["name"];
	        this.blocks = this.convertValues(source["blocks"], BlockView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class RestorePreview {
	    backup: BackupView;
	    sessions: number;
	    turns: number;
	    newestTurn: number;
	    backupNewest: number;
	    problems: number;
	    findings: string[];
	    schemaUpgrade: boolean;
	    undone: ReceiptView[];
	
	    static createFrom(source: any = {}) {
	        return new RestorePreview(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.backup = this.convertValues(source["backup"], BackupView);
	        this.sessions = source["sessions"];
	        this.turns = source["turns"];
	        this.newestTurn = source["newestTurn"];
	        this.backupNewest = source["backupNewest"];
	        this.problems = source["problems"];
	        this.findings = source["findings"];
	        this.schemaUpgrade = source["schemaUpgrade"];
	        this.undone = this.convertValues(source["undone"], ReceiptView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class SearchHit {
	    turnId: string;
	    branchId: string;
	    branchLabel: string;
	    seq: number;
	    role: string;
	    at: number;
	    snippet: string;
	    marks: Span[];
	    by: string;
	    score: number;
	
	    static createFrom(source: any = {}) {
	        return new SearchHit(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.turnId = source["turnId"];
	        this.branchId = source["branchId"];
	        this.branchLabel = source["branchLabel"];
	        this.seq = source["seq"];
	        this.role = source["role"];
	        this.at = source["at"];
	        this.snippet = source["snippet"];
	        this.marks = this.convertValues(source["marks"], Span);
	        this.by = source["by"];
	        this.score = source["score"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class SearchGroup {
	    sessionId: string;
	    title: string;
	    folder: string;
	    archived: boolean;
	    updatedAt: number;
	    marks: Span[];
	    hits: SearchHit[];
	    more: number;
	
	    static createFrom(source: any = {}) {
	        return new SearchGroup(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.sessionId = source["sessionId"];
	        this.title = source["title"];
	        this.folder = source["folder"];
	        this.archived = source["archived"];
	        this.updatedAt = source["updatedAt"];
	        this.marks = this.convertValues(source["marks"], Span);
	        this.hits = this.convertValues(source["hits"], SearchHit);
	        this.more = source["more"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class SearchQuery {
	    text: string;
	    sessionId: string;
	    role: string;
	    since: number;
	    until: number;
	    archived: boolean;
	    meaning: boolean;
	    limit: number;
	
	    static createFrom(source: any = {}) {
	        return new SearchQuery(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.text = source["text"];
	        this.sessionId = source["sessionId"];
	        this.role = source["role"];
	        this.since = source["since"];
	        this.until = source["until"];
	        this.archived = source["archived"];
	        this.meaning = source["meaning"];
	        this.limit = source["limit"];
	    }
	}
	export class SearchResult {
	    groups: SearchGroup[];
	    hits: number;
	    truncated: boolean;
	    warning: string;
	    totalMs: number;
	
	    static createFrom(source: any = {}) {
	        return new SearchResult(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.groups = this.convertValues(source["groups"], SearchGroup);
	        this.hits = source["hits"];
	        this.truncated = source["truncated"];
	        this.warning = source["warning"];
	        this.totalMs = source["totalMs"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class SendRequest {
	    sessionId: string;
	    branchId: string;
	    text: string;
	    images: ImageUpload[];
	    files: FileView[];
	    memories: MemoryChip[];
	    model: string;
	    effort: string;
	    incomplete: string;
	
	    static createFrom(source: any = {}) {
	        return new SendRequest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.sessionId = source["sessionId"];
	        this.branchId = source["branchId"];
	        this.text = source["text"];
	        this.images = this.convertValues(source["images"], ImageUpload);
	        this.files = this.convertValues(source["files"], FileView);
	        this.memories = this.convertValues(source["memories"], MemoryChip);
	        this.model = source["model"];
	        this.effort = source["effort"];
	        this.incomplete = source["incomplete"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class SendResult {
	    sessionId: string;
	    branchId: string;
	    turnId: string;
	    queued: boolean;
	
	    static createFrom(source: any = {}) {
	        return new SendResult(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.sessionId = source["sessionId"];
	        this.branchId = source["branchId"];
	        this.turnId = source["turnId"];
	        this.queued = source["queued"];
	    }
	}
	export class SentToSeveral {
	    first: SendResult;
	    problems: ErrorView[];
	
	    static createFrom(source: any = {}) {
	        return new SentToSeveral(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.first = this.convertValues(source["first"], SendResult);
	        this.problems = this.convertValues(source["problems"], ErrorView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ServerImport {
	    id: string;
	    from: string;
	    servers: ImportedServer[];
	    problems: string[];
	
	    static createFrom(source: any = {}) {
	        return new ServerImport(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.from = source["from"];
	        this.servers = this.convertValues(source["servers"], ImportedServer);
	        this.problems = source["problems"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ServerImportedName {
	    original: string;
	    name: string;
	    enabled: boolean;
	    replace: boolean;
	    answers: ServerValue[];
	
	    static createFrom(source: any = {}) {
	        return new ServerImportedName(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.original = source["original"];
	        this.name = source["name"];
	        this.enabled = source["enabled"];
	        this.replace = source["replace"];
	        this.answers = this.convertValues(source["answers"], ServerValue);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ServerImportChoice {
	    id: string;
	    servers: ServerImportedName[];
	
	    static createFrom(source: any = {}) {
	        return new ServerImportChoice(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.servers = this.convertValues(source["servers"], ServerImportedName);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class ServerLogLine {
	    at: number;
	    from: string;
	    text: string;
	
	    static createFrom(source: any = {}) {
	        return new ServerLogLine(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.at = source["at"];
	        this.from = source["from"];
	        this.text = source["text"];
	    }
	}
	export class ServerLog {
	    name: string;
	    lines: ServerLogLine[];
	    dropped: number;
	
	    static createFrom(source: any = {}) {
	        return new ServerLog(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.lines = this.convertValues(source["lines"], ServerLogLine);
	        this.dropped = source["dropped"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class ServerProblemView {
	    subject: string;
	    message: string;
	
	    static createFrom(source: any = {}) {
	        return new ServerProblemView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.subject = source["subject"];
	        this.message = source["message"];
	    }
	}
	export class ServerPromptView {
	    server: string;
	    name: string;
	    title: string;
	    description: string;
	    arguments: PromptArgumentView[];
	
	    static createFrom(source: any = {}) {
	        return new ServerPromptView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.server = source["server"];
	        this.name = source["name"];
	        this.title = source["title"];
	        this.description = source["description"];
	        this.arguments = this.convertValues(source["arguments"], PromptArgumentView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ServerPrompts {
	    rev: number;
	    prompts: ServerPromptView[];
	
	    static createFrom(source: any = {}) {
	        return new ServerPrompts(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.prompts = this.convertValues(source["prompts"], ServerPromptView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class ServerResourceView {
	    server: string;
	    uri: string;
	    name: string;
	    title: string;
	    description: string;
	    mediaType: string;
	    bytes: number;
	    template: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ServerResourceView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.server = source["server"];
	        this.uri = source["uri"];
	        this.name = source["name"];
	        this.title = source["title"];
	        this.description = source["description"];
	        this.mediaType = source["mediaType"];
	        this.bytes = source["bytes"];
	        this.template = source["template"];
	    }
	}
	export class ServerResources {
	    rev: number;
	    resources: ServerResourceView[];
	
	    static createFrom(source: any = {}) {
	        return new ServerResources(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.resources = this.convertValues(source["resources"], ServerResourceView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ServerSecretView {
	    name: string;
	    kept: string;
	
	    static createFrom(source: any = {}) {
	        return new ServerSecretView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.kept = source["kept"];
	    }
	}
	
	
	export class ServerView {
	    name: string;
	    kind: string;
	    enabled: boolean;
	    state: string;
	    words: string;
	    lastError: string;
	    retryAt: number;
	    startedAt: number;
	    title: string;
	    version: string;
	    protocol: string;
	    instructions: string;
	    tools: number;
	    prompts: number;
	    resources: number;
	    problems: ServerProblemView[];
	    signedIn: boolean;
	    settings: ServerSettings;
	    secrets: ServerSecretView[];
	
	    static createFrom(source: any = {}) {
	        return new ServerView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.kind = source["kind"];
	        this.enabled = source["enabled"];
	        this.state = source["state"];
	        this.words = source["words"];
	        this.lastError = source["lastError"];
	        this.retryAt = source["retryAt"];
	        this.startedAt = source["startedAt"];
	        this.title = source["title"];
	        this.version = source["version"];
	        this.protocol = source["protocol"];
	        this.instructions = source["instructions"];
	        this.tools = source["tools"];
	        this.prompts = source["prompts"];
	        this.resources = source["resources"];
	        this.problems = this.convertValues(source["problems"], ServerProblemView);
	        this.signedIn = source["signedIn"];
	        this.settings = this.convertValues(source["settings"], ServerSettings);
	        this.secrets = this.convertValues(source["secrets"], ServerSecretView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ServersPanel {
	    rev: number;
	    mode: string;
	    servers: ServerView[];
	    keyringOK: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ServersPanel(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.mode = source["mode"];
	        this.servers = this.convertValues(source["servers"], ServerView);
	        this.keyringOK = source["keyringOK"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class SessionAssistantView {
	    id: string;
	    name: string;
	    known: boolean;
	    differs: boolean;
	
	    static createFrom(source: any = {}) {
	        return new SessionAssistantView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.name = source["name"];
	        this.known = source["known"];
	        this.differs = source["differs"];
	    }
	}
	export class SessionRow {
	    id: string;
	    title: string;
	    activeBranch: string;
	    createdAt: number;
	    updatedAt: number;
	    pinned: boolean;
	    archived: boolean;
	    folder: string;
	    leftOut: number;
	    branches: number;
	    turns: number;
	    pending: number;
	    status: string;
	
	    static createFrom(source: any = {}) {
	        return new SessionRow(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.title = source["title"];
	        this.activeBranch = source["activeBranch"];
	        this.createdAt = source["createdAt"];
	        this.updatedAt = source["updatedAt"];
	        this.pinned = source["pinned"];
	        this.archived = source["archived"];
	        this.folder = source["folder"];
	        this.leftOut = source["leftOut"];
	        this.branches = source["branches"];
	        this.turns = source["turns"];
	        this.pending = source["pending"];
	        this.status = source["status"];
	    }
	}
	export class SessionSettings {
	    systemPrompt: string;
	    temperature: string;
	    effort: string;
	
	    static createFrom(source: any = {}) {
	        return new SessionSettings(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.systemPrompt = source["systemPrompt"];
	        this.temperature = source["temperature"];
	        this.effort = source["effort"];
	    }
	}
	export class SessionSnapshot {
	    rev: number;
	    session: SessionRow;
	    branches: BranchView[];
	    header: Header;
	    turns: TurnView[];
	    firstSeq: number;
	    lastSeq: number;
	    draft: Draft;
	
	    static createFrom(source: any = {}) {
	        return new SessionSnapshot(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.session = this.convertValues(source["session"], SessionRow);
	        this.branches = this.convertValues(source["branches"], BranchView);
	        this.header = this.convertValues(source["header"], Header);
	        this.turns = this.convertValues(source["turns"], TurnView);
	        this.firstSeq = source["firstSeq"];
	        this.lastSeq = source["lastSeq"];
	        this.draft = this.convertValues(source["draft"], Draft);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class Setting {
	    key: string;
	    group: string;
	    label: string;
	    help: string;
	    type: string;
	    value: string;
	    default: string;
	    choices: string[];
	    min: number;
	    max: number;
	    unit: string;
	    origin: string;
	
	    static createFrom(source: any = {}) {
	        return new Setting(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.key = source["key"];
	        this.group = source["group"];
	        this.label = source["label"];
	        this.help = source["help"];
	        this.type = source["type"];
	        this.value = source["value"];
	        this.default = source["default"];
	        this.choices = source["choices"];
	        this.min = source["min"];
	        this.max = source["max"];
	        this.unit = source["unit"];
	        this.origin = source["origin"];
	    }
	}
	export class SettingsView {
	    path: string;
	    dataDir: string;
	    settings: Setting[];
	    error: string;
	
	    static createFrom(source: any = {}) {
	        return new SettingsView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.path = source["path"];
	        this.dataDir = source["dataDir"];
	        this.settings = this.convertValues(source["settings"], Setting);
	        this.error = source["error"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	
	
	
	export class Startup {
	    version: string;
	    firstRun: boolean;
	    dataDir: string;
	    fatal?: ErrorView;
	    lost: boolean;
	    damagedLog: boolean;
	    readOnly: string;
	    configError: string;
	    lastSession: string;
	    quick: boolean;
	    theme: string;
	    textZoom: number;
	    codeSize: number;
	    codeWrap: boolean;
	    codeNumbers: boolean;
	    previews: boolean;
	    messageWidth: string;
	    motion: string;
	    language: string;
	    shortcuts: string[];
	    durability: string;
	    maxSessions: number;
	
	    static createFrom(source: any = {}) {
	        return new Startup(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.version = source["version"];
	        this.firstRun = source["firstRun"];
	        this.dataDir = source["dataDir"];
	        this.fatal = this.convertValues(source["fatal"], ErrorView);
	        this.lost = source["lost"];
	        this.damagedLog = source["damagedLog"];
	        this.readOnly = source["readOnly"];
	        this.configError = source["configError"];
	        this.lastSession = source["lastSession"];
	        this.quick = source["quick"];
	        this.theme = source["theme"];
	        this.textZoom = source["textZoom"];
	        this.codeSize = source["codeSize"];
	        this.codeWrap = source["codeWrap"];
	        this.codeNumbers = source["codeNumbers"];
	        this.previews = source["previews"];
	        this.messageWidth = source["messageWidth"];
	        this.motion = source["motion"];
	        this.language = source["language"];
	        this.shortcuts = source["shortcuts"];
	        this.durability = source["durability"];
	        this.maxSessions = source["maxSessions"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class StateView {
	    id: string;
	    shortId: string;
	    seq: number;
	    origin: string;
	    model: string;
	    summary: string;
	    tokens: number;
	    createdAt: number;
	    head: boolean;
	    turnSeq: number;
	    validation: string;
	
	    static createFrom(source: any = {}) {
	        return new StateView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.shortId = source["shortId"];
	        this.seq = source["seq"];
	        this.origin = source["origin"];
	        this.model = source["model"];
	        this.summary = source["summary"];
	        this.tokens = source["tokens"];
	        this.createdAt = source["createdAt"];
	        this.head = source["head"];
	        this.turnSeq = source["turnSeq"];
	        this.validation = source["validation"];
	    }
	}
	export class StatePanel {
	    head: StateView;
	    history: StateView[];
	    ranges: RangeView[];
	    cut: number;
	    pins: PinView[];
	    pinTokens: number;
	
	    static createFrom(source: any = {}) {
	        return new StatePanel(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.head = this.convertValues(source["head"], StateView);
	        this.history = this.convertValues(source["history"], StateView);
	        this.ranges = this.convertValues(source["ranges"], RangeView);
	        this.cut = source["cut"];
	        this.pins = this.convertValues(source["pins"], PinView);
	        this.pinTokens = source["pinTokens"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class StepView {
	    id: string;
	    index: number;
	    attempt: number;
	    provider: string;
	    modelId: string;
	    status: string;
	    reason: string;
	    code: string;
	    message: string;
	    displayedBytes: number;
	    durableBytes: number;
	    inputTokens: number;
	    outputTokens: number;
	    cachedTokens: number;
	    startedAt: number;
	    endedAt: number;
	
	    static createFrom(source: any = {}) {
	        return new StepView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.index = source["index"];
	        this.attempt = source["attempt"];
	        this.provider = source["provider"];
	        this.modelId = source["modelId"];
	        this.status = source["status"];
	        this.reason = source["reason"];
	        this.code = source["code"];
	        this.message = source["message"];
	        this.displayedBytes = source["displayedBytes"];
	        this.durableBytes = source["durableBytes"];
	        this.inputTokens = source["inputTokens"];
	        this.outputTokens = source["outputTokens"];
	        this.cachedTokens = source["cachedTokens"];
	        this.startedAt = source["startedAt"];
	        this.endedAt = source["endedAt"];
	    }
	}
	export class StoragePart {
	    name: string;
	    label: string;
	    bytes: number;
	    files: number;
	    about: string;
	
	    static createFrom(source: any = {}) {
	        return new StoragePart(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.name = source["name"];
	        this.label = source["label"];
	        this.bytes = source["bytes"];
	        this.files = source["files"];
	        this.about = source["about"];
	    }
	}
	export class StorageView {
	    dataDir: string;
	    config: string;
	    bytes: number;
	    free: number;
	    parts: StoragePart[];
	    sessions: number;
	    turns: number;
	    movable: boolean;
	    unmovable: string;
	
	    static createFrom(source: any = {}) {
	        return new StorageView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.dataDir = source["dataDir"];
	        this.config = source["config"];
	        this.bytes = source["bytes"];
	        this.free = source["free"];
	        this.parts = this.convertValues(source["parts"], StoragePart);
	        this.sessions = source["sessions"];
	        this.turns = source["turns"];
	        this.movable = source["movable"];
	        this.unmovable = source["unmovable"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class StreamState {
	    step: string;
	    attempt: number;
	    seq: number;
	    blocks: BlockView[];
	    displayed: number;
	    durable: number;
	    live: boolean;
	
	    static createFrom(source: any = {}) {
	        return new StreamState(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.step = source["step"];
	        this.attempt = source["attempt"];
	        this.seq = source["seq"];
	        this.blocks = this.convertValues(source["blocks"], BlockView);
	        this.displayed = source["displayed"];
	        this.durable = source["durable"];
	        this.live = source["live"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class SwitchPreview {
	    model: string;
	    kind: string;
	    oldCeiling: number;
	    newCeiling: number;
	    oldTokens: number;
	    newTokens: number;
	    returning: number;
	    compressed: number;
	    needsSummarization: boolean;
	    unsummarized: number;
	    dropped: number;
	    cost: string;
	    message: string;
	    error?: ErrorView;
	
	    static createFrom(source: any = {}) {
	        return new SwitchPreview(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.model = source["model"];
	        this.kind = source["kind"];
	        this.oldCeiling = source["oldCeiling"];
	        this.newCeiling = source["newCeiling"];
	        this.oldTokens = source["oldTokens"];
	        this.newTokens = source["newTokens"];
	        this.returning = source["returning"];
	        this.compressed = source["compressed"];
	        this.needsSummarization = source["needsSummarization"];
	        this.unsummarized = source["unsummarized"];
	        this.dropped = source["dropped"];
	        this.cost = source["cost"];
	        this.message = source["message"];
	        this.error = this.convertValues(source["error"], ErrorView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class TaskView {
	    id: string;
	    kind: string;
	    title: string;
	    state: string;
	    done: number;
	    total: number;
	    unit: string;
	    detail: string;
	    startedAt: number;
	    endedAt: number;
	    error?: ErrorView;
	    path: string;
	    import?: ImportReport;
	    check?: CheckReport;
	    resumable: boolean;
	    firm: boolean;
	
	    static createFrom(source: any = {}) {
	        return new TaskView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.id = source["id"];
	        this.kind = source["kind"];
	        this.title = source["title"];
	        this.state = source["state"];
	        this.done = source["done"];
	        this.total = source["total"];
	        this.unit = source["unit"];
	        this.detail = source["detail"];
	        this.startedAt = source["startedAt"];
	        this.endedAt = source["endedAt"];
	        this.error = this.convertValues(source["error"], ErrorView);
	        this.path = source["path"];
	        this.import = this.convertValues(source["import"], ImportReport);
	        this.check = this.convertValues(source["check"], CheckReport);
	        this.resumable = source["resumable"];
	        this.firm = source["firm"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class ToolDecisionRequest {
	    callId: string;
	    choice: string;
	    server: boolean;
	    hash: string;
	
	    static createFrom(source: any = {}) {
	        return new ToolDecisionRequest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.callId = source["callId"];
	        this.choice = source["choice"];
	        this.server = source["server"];
	        this.hash = source["hash"];
	    }
	}
	export class ToolDefinitionView {
	    source: string;
	    tool: string;
	    name: string;
	    title: string;
	    description: string;
	    schema: string;
	    annotations: string;
	    hash: string;
	    effects: boolean;
	    builtIn: boolean;
	    pinned: string;
	    before?: ToolDefinitionView;
	    decision: string;
	    decisionFrom: string;
	    asksEachCall: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ToolDefinitionView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.source = source["source"];
	        this.tool = source["tool"];
	        this.name = source["name"];
	        this.title = source["title"];
	        this.description = source["description"];
	        this.schema = source["schema"];
	        this.annotations = source["annotations"];
	        this.hash = source["hash"];
	        this.effects = source["effects"];
	        this.builtIn = source["builtIn"];
	        this.pinned = source["pinned"];
	        this.before = this.convertValues(source["before"], ToolDefinitionView);
	        this.decision = source["decision"];
	        this.decisionFrom = source["decisionFrom"];
	        this.asksEachCall = source["asksEachCall"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ToolPermissionView {
	    source: string;
	    tool: string;
	    sessionId: string;
	    session: string;
	    decision: string;
	    createdAt: number;
	    fromConfig: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ToolPermissionView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.source = source["source"];
	        this.tool = source["tool"];
	        this.sessionId = source["sessionId"];
	        this.session = source["session"];
	        this.decision = source["decision"];
	        this.createdAt = source["createdAt"];
	        this.fromConfig = source["fromConfig"];
	    }
	}
	export class ToolProblemView {
	    source: string;
	    tool: string;
	    message: string;
	
	    static createFrom(source: any = {}) {
	        return new ToolProblemView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.source = source["source"];
	        this.tool = source["tool"];
	        this.message = source["message"];
	    }
	}
	export class ToolResolveRequest {
	    callId: string;
	    choice: string;
	    text: string;
	    isError: boolean;
	    hash: string;
	
	    static createFrom(source: any = {}) {
	        return new ToolResolveRequest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.callId = source["callId"];
	        this.choice = source["choice"];
	        this.text = source["text"];
	        this.isError = source["isError"];
	        this.hash = source["hash"];
	    }
	}
	export class ToolResultView {
	    blocks: BlockView[];
	    isError: boolean;
	
	    static createFrom(source: any = {}) {
	        return new ToolResultView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.blocks = this.convertValues(source["blocks"], BlockView);
	        this.isError = source["isError"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class ToolsPanel {
	    rev: number;
	    mode: string;
	    definitions: ToolDefinitionView[];
	    permissions: ToolPermissionView[];
	    problems: ToolProblemView[];
	
	    static createFrom(source: any = {}) {
	        return new ToolsPanel(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.mode = source["mode"];
	        this.definitions = this.convertValues(source["definitions"], ToolDefinitionView);
	        this.permissions = this.convertValues(source["permissions"], ToolPermissionView);
	        this.problems = this.convertValues(source["problems"], ToolProblemView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	
	
	export class TurnPage {
	    rev: number;
	    turns: TurnView[];
	
	    static createFrom(source: any = {}) {
	        return new TurnPage(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.turns = this.convertValues(source["turns"], TurnView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	
	export class WaitingCallView {
	    call: ToolCallView;
	    sessionId: string;
	    branchId: string;
	    session: string;
	    turnSeq: number;
	    definition?: ToolDefinitionView;
	
	    static createFrom(source: any = {}) {
	        return new WaitingCallView(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.call = this.convertValues(source["call"], ToolCallView);
	        this.sessionId = source["sessionId"];
	        this.branchId = source["branchId"];
	        this.session = source["session"];
	        this.turnSeq = source["turnSeq"];
	        this.definition = this.convertValues(source["definition"], ToolDefinitionView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class WaitingCalls {
	    rev: number;
	    calls: WaitingCallView[];
	
	    static createFrom(source: any = {}) {
	        return new WaitingCalls(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.rev = source["rev"];
	        this.calls = this.convertValues(source["calls"], WaitingCallView);
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}
	export class WindowRequest {
	    kind: string;
	    sessionId: string;
	    files: DroppedFile[];
	    x: number;
	    y: number;
	
	    static createFrom(source: any = {}) {
	        return new WindowRequest(source);
	    }
	
	    constructor(source: any = {}) {
	        if ('string' === typeof source) source = JSON.parse(source);
	        this.kind = source["kind"];
	        this.sessionId = source["sessionId"];
	        this.files = this.convertValues(source["files"], DroppedFile);
	        this.x = source["x"];
	        this.y = source["y"];
	    }
	
		convertValues(a: any, classs: any, asMap: boolean = false): any {
		    if (!a) {
		        return a;
		    }
		    if (a.slice && a.map) {
		        return (a as any[]).map(elem => this.convertValues(elem, classs));
		    } else if ("object" === typeof a) {
		        if (asMap) {
		            for (const key of Object.keys(a)) {
		                a[key] = new classs(a[key]);
		            }
		            return a;
		        }
		        return new classs(a);
		    }
		    return a;
		}
	}

}

