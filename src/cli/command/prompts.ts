/** Prompts at a terminal. Each prompt throws `Interrupted` if the operator interrupts it. */
export interface Prompts {
  /** Shows the title of the prompts. */
  begin(text: string): Promise<void>
  text(prompt: TextPrompt): Promise<string>
  /** Asks for a secret; typed characters are not shown. */
  password(prompt: Omit<TextPrompt, 'fallback'>): Promise<string>
  select<T extends string>(prompt: SelectPrompt<T>): Promise<T>
  confirm(prompt: ConfirmPrompt): Promise<boolean>
  /** Shows a text before the next prompt. */
  show(title: string, text: string): Promise<void>
  /** Shows the result of the prompts. */
  end(text: string): Promise<void>
}

export interface TextPrompt {
  readonly message: string
  /** Value that is used if the reply is empty. */
  readonly fallback?: string
  /** Returns the problem of an invalid reply; the prompt is then repeated. */
  readonly check: (reply: string) => string | undefined
}

export interface SelectPrompt<T extends string> {
  readonly message: string
  readonly choices: readonly PromptChoice<T>[]
  readonly fallback: T
}

export interface PromptChoice<T extends string> {
  readonly value: T
  readonly label: string
}

export interface ConfirmPrompt {
  readonly message: string
  readonly fallback: boolean
}

/** Thrown if the operator interrupts a prompt. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

interface PromptSource {
  readonly openPrompts: ((signal: AbortSignal) => Prompts) | undefined
  readonly signal: AbortSignal
}

/** Opens the prompts; undefined without a terminal or if the flags forbid prompts. */
export function choosePrompts(
  { openPrompts, signal }: PromptSource,
  { input, yes }: { readonly input: boolean; readonly yes?: true },
): Prompts | undefined {
  return input && yes !== true ? openPrompts?.(signal) : undefined
}
