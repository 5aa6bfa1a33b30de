/** Somebody at a terminal. Each answer may be `Interrupted` instead, which is thrown. */
export interface Questions {
  /** What the questions are about. */
  begin(text: string): Promise<void>
  text(question: TextQuestion): Promise<string>
  select<T extends string>(question: SelectQuestion<T>): Promise<T>
  confirm(question: ConfirmQuestion): Promise<boolean>
  /** Something to look at before the next question. */
  show(title: string, text: string): Promise<void>
  /** What comes of the answers. */
  end(text: string): Promise<void>
}

export interface TextQuestion {
  readonly message: string
  /** What an empty answer means. */
  readonly fallback?: string
  /** Says what is wrong with an answer; the question is then asked again. */
  readonly check: (answer: string) => string | undefined
}

export interface SelectQuestion<T extends string> {
  readonly message: string
  readonly choices: readonly Choice<T>[]
  readonly fallback: T
}

export interface Choice<T extends string> {
  readonly value: T
  readonly label: string
}

export interface ConfirmQuestion {
  readonly message: string
  readonly fallback: boolean
}

/** The person has had enough, and said so in answer to a question. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

interface Asking {
  readonly questions: ((signal: AbortSignal) => Questions) | undefined
  readonly signal: AbortSignal
}

/** Whom to ask, where there is somebody and the flags allow it. */
export function whomToAsk(
  { questions, signal }: Asking,
  { input, yes }: { readonly input: boolean; readonly yes?: true },
): Questions | undefined {
  return input && yes !== true ? questions?.(signal) : undefined
}
