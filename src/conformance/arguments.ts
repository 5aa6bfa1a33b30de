/**
 * Maximum length of one argument, in characters. A character is one byte, because test names are ASCII. The
 * value is below the limits of all supported systems.
 */
const maxArgumentLength = 100_000

/**
 * Builds the arguments for a dry run, which reports all tests and whether each matches the flags. A dry run
 * executes no test and needs no cluster.
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
  /** Directory for other files that tests write. */
  readonly scratch: string
  /** DNS domain of the cluster's services. */
  readonly domain: string
}

/**
 * Builds the arguments that run exactly these tests. The suite's own timeout is so long that hyperkube's
 * timeout always comes first.
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

/**
 * Builds patterns that together match exactly the given names. A single pattern could exceed the maximum
 * argument length.
 */
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
