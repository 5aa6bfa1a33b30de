/** Event that was parsed from the output of the suite. */
export type SuiteEvent =
  | { readonly type: 'server'; readonly version: string }
  | { readonly type: 'began'; readonly test: string }
  | { readonly type: 'ended'; readonly result: TestResult }
  /** Setup or teardown of the whole suite failed. */
  | { readonly type: 'suite-failed'; readonly part: string; readonly reason: readonly string[] }
  /** Numbers of passed and failed tests that the suite printed at its end. */
  | { readonly type: 'counted'; readonly passed: number; readonly failed: number }

export const testOutcomes = ['passed', 'failed', 'skipped', 'interrupted'] as const
export type TestOutcome = (typeof testOutcomes)[number]

export interface TestResult {
  readonly name: string
  readonly outcome: TestOutcome
  readonly seconds: number
  /** Lines of the failure message; empty for passed tests. */
  readonly reason: readonly string[]
}

const delimiter = '-'.repeat(30)
const testEnd = /^(?:\u2022|\+|S)(?: \[([A-Z]+)\])? \[(\d+\.\d+) seconds\]$/
const suitePartEnd = /^\[(\w+)\] \[([A-Z]+)\] \[\d+\.\d+ seconds\]$/
const countsLine = /^(?:SUCCESS|FAIL)!.* (\d+) Passed \| (\d+) Failed \|/
const serverLine = /kube-apiserver version: (v[\w.+-]+)$/
/** `reasonBegin` matches the first line of a failure message, `reasonEnd` the line after its last one. */
const reasonBegin = /^ {2}\[[A-Z]+\] (.*)$/
const reasonEnd = /^ {2}In \[\w+\] at: /

/** Maximum number of lines of a failure reason in results and reports. The log contains the whole reason. */
const maxReasonLines = 20

/** A test or a setup of the suite that did not pass. Its reason is in the lines that follow. */
interface PendingEnding {
  readonly lines: string[]
  readonly event: (reason: readonly string[]) => SuiteEvent
}

/**
 * Parses the output of the suite with --ginkgo.v. Indented output of tests is ignored. A test begins with its
 * name after a line of dashes; only the given names are recognized.
 */
export class GinkgoOutputParser {
  readonly #names: ReadonlySet<string>
  #afterDelimiter = false
  #current: string | undefined
  #ending: PendingEnding | undefined

  constructor(names: Iterable<string>) {
    this.#names = new Set(names)
  }

  /** Parses the next line and returns its events. */
  readLine(line: string): SuiteEvent[] {
    const isFirst = this.#afterDelimiter
    this.#afterDelimiter = line === delimiter
    if (this.#afterDelimiter) return this.finish()
    if (this.#ending !== undefined) {
      this.#ending.lines.push(line)
      return []
    }
    const name = isFirst ? this.#findName(line) : undefined
    if (name === undefined) return this.#readStatusLine(line)
    this.#current = name
    return [{ type: 'began', test: name }]
  }

  /**
   * Returns the pending result, or an empty list if no result is pending. Called at a line of dashes and at
   * the end of the output.
   */
  finish(): SuiteEvent[] {
    const ending = this.#ending
    this.#ending = undefined
    return ending === undefined ? [] : [ending.event(extractReason(ending.lines))]
  }

  #readStatusLine(line: string): SuiteEvent[] {
    const version = serverLine.exec(line)?.[1]
    if (version !== undefined) return [{ type: 'server', version }]
    const [counted, passed, failed] = countsLine.exec(line) ?? []
    if (counted !== undefined) return [{ type: 'counted', passed: Number(passed), failed: Number(failed) }]
    const part = suitePartEnd.exec(line)?.[1]
    if (part !== undefined) {
      this.#ending = { lines: [], event: (reason) => ({ type: 'suite-failed', part, reason }) }
      return []
    }
    return this.#testEnded(line)
  }

  #testEnded(line: string): SuiteEvent[] {
    const [ended, state, seconds] = testEnd.exec(line) ?? []
    const name = this.#current
    if (ended === undefined || name === undefined) return []
    this.#current = undefined
    const result = { name, outcome: toOutcome(state), seconds: Number(seconds) }
    if (result.outcome === 'passed') return [{ type: 'ended', result: { ...result, reason: [] } }]
    this.#ending = { lines: [], event: (reason) => ({ type: 'ended', result: { ...result, reason } }) }
    return []
  }

  /** Finds the test whose name is on the line. Labels in brackets may follow the name. */
  #findName(line: string): string | undefined {
    return [line, line.slice(0, line.lastIndexOf(' ['))].find((name) => this.#names.has(name))
  }
}

function toOutcome(state: string | undefined): TestOutcome {
  if (state === undefined) return 'passed'
  if (state === 'SKIPPED') return 'skipped'
  return state === 'INTERRUPTED' ? 'interrupted' : 'failed'
}

function extractReason(lines: readonly string[]): string[] {
  const begin = lines.findIndex((line) => reasonBegin.test(line))
  if (begin === -1) return []
  const [first = '', ...rest] = lines.slice(begin)
  const end = rest.findIndex((line) => reasonEnd.test(line))
  return [reasonBegin.exec(first)?.[1] ?? '', ...rest.slice(0, end === -1 ? rest.length : end)]
    .map((line) => line.replace(/^ {2}/, '').trimEnd())
    .filter((line) => line !== '')
    .slice(0, maxReasonLines)
}
