/** Length that every system accepts for one argument, in characters; names are ASCII. */
const maxArgumentLength = 100_000

/**
 * Builds the arguments that list the tests and which of them match. Nothing is run and no cluster is
 * contacted.
 */
export function buildListArguments(
  reportFile: string,
  { focus, skip }: { readonly focus: string; readonly skip: string | undefined },
): string[] {
  return [
    '--ginkgo.dry-run',
    '--ginkgo.succinct',
    '--ginkgo.no-color',
    `--ginkgo.json-report=${reportFile}`,
    `--ginkgo.focus=${focus}`,
    ...(skip === undefined ? [] : [`--ginkgo.skip=${skip}`]),
  ]
}

export interface SuiteRunPaths {
  readonly kubeconfig: string
  readonly kubectl: string
  readonly report: string
  /** For all other files that tests write. */
  readonly scratch: string
  /** DNS domain of services. */
  readonly domain: string
}

/**
 * Builds the arguments that run exactly these tests. The timeout of the suite is set so long that only ours
 * counts.
 */
export function buildRunArguments(
  { kubeconfig, kubectl, report, scratch, domain }: SuiteRunPaths,
  description: string,
  names: readonly string[],
): string[] {
  return [
    '--provider=skeleton',
    `--kubeconfig=${kubeconfig}`,
    `--kubectl-path=${kubectl}`,
    `--dns-domain=${domain}`,
    `--report-dir=${report}`,
    `--e2e-output-dir=${scratch}`,
    '--disable-log-dump',
    '--ginkgo.v',
    '--ginkgo.no-color',
    '--ginkgo.timeout=240h',
    ...buildFocusPatterns(description, names).map((pattern) => `--ginkgo.focus=${pattern}`),
  ]
}

/** Builds patterns of which one matches exactly the given names. */
function buildFocusPatterns(description: string, names: readonly string[]): string[] {
  const groups: string[][] = []
  let length = maxArgumentLength
  for (const name of names.map(escapePattern)) {
    length += name.length + 1
    if (length > maxArgumentLength) {
      groups.push([])
      length = name.length
    }
    groups.at(-1)?.push(name)
  }
  return groups.map((group) => `^${escapePattern(description)} (?:${group.join('|')})$`)
}

function escapePattern(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, String.raw`\$&`)
}
