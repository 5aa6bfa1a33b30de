/** What the suite tells of its run, as far as anybody has to know it. */
export type SuiteEvent =
  | { readonly type: 'server'; readonly version: string }
  | { readonly type: 'began'; readonly test: string }
  | { readonly type: 'ended'; readonly result: TestResult }
  /** What is done before all tests or after them has failed. */
  | { readonly type: 'suite-failed'; readonly part: string; readonly reason: readonly string[] }
  /** How many there were, as the suite itself has counted. */
  | { readonly type: 'counted'; readonly passed: number; readonly failed: number }

export const testOutcomes = ['passed', 'failed', 'skipped', 'interrupted'] as const
export type TestOutcome = (typeof testOutcomes)[number]

export interface TestResult {
  readonly name: string
  readonly outcome: TestOutcome
  readonly seconds: number
  /** Lines of what the suite says against it; none where it passed. */
  readonly reason: readonly string[]
}

const delimiter = '-'.repeat(30)
const testEnd = /^(?:•|\+|S)(?: \[([A-Z]+)\])? \[(\d+\.\d+) seconds\]$/
const partEnd = /^\[(\w+)\] \[([A-Z]+)\] \[\d+\.\d+ seconds\]$/
const counts = /^(?:SUCCESS|FAIL)!.* (\d+) Passed \| (\d+) Failed \|/
const server = /kube-apiserver version: (v[\w.+-]+)$/
/** Of a reason: its first line and the one behind its last. */
const reasonBegin = /^ {2}\[[A-Z]+\] (.*)$/
const reasonEnd = /^ {2}In \[\w+\] at: /

/** Nobody reads more of a reason here; all of it is in the log. */
const mostLines = 20

/** Something that has ended otherwise than well; why comes in the lines that follow. */
interface Ending {
  readonly lines: string[]
  readonly event: (reason: readonly string[]) => SuiteEvent
}

/**
 * Follows what the suite prints with --ginkgo.v. What tests print themselves is indented, and passed over. A test begins
 * with its name behind a line of dashes; only names of tests that shall run are taken for one.
 */
export class SuiteTale {
  readonly #names: ReadonlySet<string>
  #afterDelimiter = false
  #current: string | undefined
  #ending: Ending | undefined

  constructor(names: Iterable<string>) {
    this.#names = new Set(names)
  }

  /** What one more line tells. */
  heard(line: string): SuiteEvent[] {
    const isFirst = this.#afterDelimiter
    this.#afterDelimiter = line === delimiter
    if (this.#afterDelimiter) return this.over()
    if (this.#ending !== undefined) {
      this.#ending.lines.push(line)
      return []
    }
    const name = isFirst ? this.#nameIn(line) : undefined
    if (name === undefined) return this.#told(line)
    this.#current = name
    return [{ type: 'began', test: name }]
  }

  /** No line follows, or none that belongs to what has ended. */
  over(): SuiteEvent[] {
    const ending = this.#ending
    this.#ending = undefined
    return ending === undefined ? [] : [ending.event(reasonIn(ending.lines))]
  }

  #told(line: string): SuiteEvent[] {
    const version = server.exec(line)?.[1]
    if (version !== undefined) return [{ type: 'server', version }]
    const [counted, passed, failed] = counts.exec(line) ?? []
    if (counted !== undefined) return [{ type: 'counted', passed: Number(passed), failed: Number(failed) }]
    const part = partEnd.exec(line)?.[1]
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
    const result = { name, outcome: outcomeOf(state), seconds: Number(seconds) }
    if (result.outcome === 'passed') return [{ type: 'ended', result: { ...result, reason: [] } }]
    this.#ending = { lines: [], event: (reason) => ({ type: 'ended', result: { ...result, reason } }) }
    return []
  }

  /** Its labels follow a name, in brackets. */
  #nameIn(line: string): string | undefined {
    return [line, line.slice(0, line.lastIndexOf(' ['))].find((name) => this.#names.has(name))
  }
}

function outcomeOf(state: string | undefined): TestOutcome {
  if (state === undefined) return 'passed'
  if (state === 'SKIPPED') return 'skipped'
  return state === 'INTERRUPTED' ? 'interrupted' : 'failed'
}

function reasonIn(lines: readonly string[]): string[] {
  const begin = lines.findIndex((line) => reasonBegin.test(line))
  if (begin === -1) return []
  const [first = '', ...rest] = lines.slice(begin)
  const end = rest.findIndex((line) => reasonEnd.test(line))
  return [reasonBegin.exec(first)?.[1] ?? '', ...rest.slice(0, end === -1 ? rest.length : end)]
    .map((line) => line.replace(/^ {2}/, '').trimEnd())
    .filter((line) => line !== '')
    .slice(0, mostLines)
}
