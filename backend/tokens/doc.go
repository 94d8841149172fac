// Package tokens counts tokens as models do, and knows the limits of models (SPEC 6, 9; FCRATE model limits).
//
// Counts are tiktoken's: cl100k_base for Claude, GPT-4 and unknown models, o200k_base for GPT-4o and later OpenAI
// models. They are exact for ordinary text with OpenAI's models, and an estimate for others. The error is covered by
// the budget's safety margin and by a calibration from reported usage.
//
// Guarantees: counting is deterministic, never fails or panics on any bytes, and takes time linear in the length of
// the text. Byte pair encoding is quadratic in the length of unbroken runs, so these are cut first. All data is
// embedded; nothing is downloaded.
package tokens
