/** So much of one argument is taken by every system, in characters; names are plain ones. */
const longestArgument = 100_000

/** Asks the suite for its tests, and which of them its own flags choose. Nothing is run, and no cluster asked. */
export function listArguments(
  into: string,
  { focus, skip }: { readonly focus: string; readonly skip: string | undefined },
): string[] {
  return [
    '--ginkgo.dry-run',
    '--ginkgo.succinct',
    '--ginkgo.no-color',
    `--ginkgo.json-report=${into}`,
    `--ginkgo.focus=${focus}`,
    ...(skip === undefined ? [] : [`--ginkgo.skip=${skip}`]),
  ]
}

export interface SuitePlaces {
  readonly kubeconfig: string
  readonly kubectl: string
  readonly report: string
  /** For whatever else tests write. */
  readonly scratch: string
  /** What names of services end with. */
  readonly domain: string
}

/** Runs exactly these tests. The suite has a clock of its own, which is set so that only ours counts. */
export function runArguments(
  { kubeconfig, kubectl, report, scratch, domain }: SuitePlaces,
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
    ...exactly(description, names).map((pattern) => `--ginkgo.focus=${pattern}`),
  ]
}

/** Patterns of which one fits where a name is one of these, and else none. */
function exactly(description: string, names: readonly string[]): string[] {
  const groups: string[][] = []
  let length = longestArgument
  for (const name of names.map(quoted)) {
    length += name.length + 1
    if (length > longestArgument) {
      groups.push([])
      length = name.length
    }
    groups.at(-1)?.push(name)
  }
  return groups.map((group) => `^${quoted(description)} (?:${group.join('|')})$`)
}

function quoted(text: string): string {
  return text.replaceAll(/[\\.+*?()|[\]{}^$]/g, String.raw`\$&`)
}
