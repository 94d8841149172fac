// Not the bindings: window.goals, nor a word about window.location
export const goals = window.goals;
