import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'

/** Upstream's suite as it describes itself: every test that it has, and those that flags of its own choose. */
export interface Suite {
  /** Stands before the name of each test where the suite compares names. */
  readonly description: string
  readonly tests: readonly SuiteTest[]
}

export interface SuiteTest {
  readonly name: string
  readonly chosen: boolean
}

const dryRun = z.tuple([
  z.object({
    SuiteDescription: z.string(),
    SpecReports: z.array(
      z.object({
        ContainerHierarchyTexts: z.array(z.string()).nullish(),
        LeafNodeType: z.string(),
        LeafNodeText: z.string(),
        State: z.string(),
      }),
    ),
  }),
])

/** Reads what the suite wrote of a run in which nothing was done: what would have run has passed in it. */
export function readSuite(text: string): Suite {
  const read = dryRun.safeParse(parsed(text))
  if (!read.success) {
    throw new HyperkubeError(
      'CONFORMANCE_NOT_LISTED',
      'what the suite says of its tests is not what it used to say',
      {
        hint: 'is --program an e2e.test of the cluster’s version?',
        cause: read.error,
      },
    )
  }
  const [{ SuiteDescription: description, SpecReports: specs }] = read.data
  const tests = specs
    .filter(({ LeafNodeType: type }) => type === 'It')
    .map(({ ContainerHierarchyTexts: around, LeafNodeText: leaf, State: state }) => ({
      name: [...(around ?? []), leaf].join(' '),
      chosen: state === 'passed',
    }))
  return { description, tests: tests.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
