import { z } from 'zod'
import { HyperkubeError } from '../kit/errors.ts'

/** The upstream suite, from its dry-run report: all tests, and which of them match the flags. */
export interface Suite {
  /**
   * Suite description. Ginkgo matches --focus patterns against this description followed by the name of a
   * test.
   */
  readonly description: string
  readonly tests: readonly SuiteTest[]
}

export interface SuiteTest {
  readonly name: string
  readonly chosen: boolean
}

const dryRunSchema = z.tuple([
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

/** Reads the report of a dry run. A dry run reports every chosen test as passed. */
export function readSuite(text: string): Suite {
  const result = dryRunSchema.safeParse(parseJsonOrUndefined(text))
  if (!result.success) {
    throw new HyperkubeError('CONFORMANCE_NOT_LISTED', 'the test list of the suite has an unknown format', {
      hint: 'check that --program is an e2e.test of the Kubernetes version of the cluster',
      cause: result.error,
    })
  }
  const [{ SuiteDescription: description, SpecReports: specs }] = result.data
  const tests = specs
    .filter(({ LeafNodeType: type }) => type === 'It')
    .map(({ ContainerHierarchyTexts: containers, LeafNodeText: leaf, State: state }) => ({
      name: [...(containers ?? []), leaf].join(' '),
      chosen: state === 'passed',
    }))
  return { description, tests: tests.toSorted((a, b) => (a.name < b.name ? -1 : 1)) }
}

function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
