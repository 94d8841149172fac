// Package tokens counts text as models do, and knows their limits (SPEC 6, 9;
// FCRATE model limits).
//
// Counts are tiktoken's: cl100k_base for Claude, GPT-4 and unknown models,
// o200k_base for GPT-4o and later OpenAI models. For OpenAI's models they are
// exact for ordinary text; for others an estimate, which the budget's safety
// margin and the calibration learned from reported usage cover.
//
// Guarantees: counting is deterministic, never fails, never panics on any bytes,
// and takes time linear in the length of the text: unbroken runs, on which byte
// pair encoding is quadratic, are cut first. Everything is embedded; nothing is
// fetched.
package tokens
