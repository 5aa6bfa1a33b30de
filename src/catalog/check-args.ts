import type { Finding } from '../contract/finding.ts'
import { suggestWord } from '../kit/text.ts'
import type { Os } from './artifacts.ts'
import { type Catalog, findKubernetesRelease, type KubernetesRelease } from './catalog.ts'
import { checkFeatureGates, parseFeatureGates } from './feature-gates.ts'
import { findFlags, type KnownFlags, listMinorsWithFlag } from './known-flags.ts'
import type { Flags, ProgramName } from './program-flags.ts'
import { compareVersions, toMinor } from './version.ts'

/**
 * Reports flags with which a program of this Kubernetes version would refuse to start. Flags are given
 * without dashes.
 */
export function checkArgs(
  catalog: Catalog,
  program: ProgramName,
  args: Readonly<Record<string, string>>,
  version: string,
  os: Os,
): readonly Finding[] {
  const { flags } = catalog
  const context = {
    flags,
    program,
    programVersion: selectVersion(program, findKubernetesRelease(catalog, version)),
    kubernetesVersion: version,
  }
  const linuxFlags = findFlags(flags, program, context.programVersion)
  if (linuxFlags === undefined) return []
  const known = os === 'windows' ? { ...linuxFlags, ...flags.windows[program] } : linuxFlags
  return Object.entries(args).flatMap(([flag, value]) => {
    if (!Object.hasOwn(known, flag)) return [unknownFlag(context, flag, known)]
    if (flag === 'feature-gates') return checkFeatureGates(program, parseFeatureGates(value), version)
    return known[flag] === 'boolean' && !isBoolean(value) ? [notBoolean(context, flag, value)] : []
  })
}

interface FlagContext {
  readonly flags: KnownFlags
  readonly program: ProgramName
  /** Version of the program itself. */
  readonly programVersion: string
  /** Kubernetes version of the release that contains the program. */
  readonly kubernetesVersion: string
}

function unknownFlag(context: FlagContext, flag: string, known: Flags): Finding {
  const { flags, program, programVersion, kubernetesVersion } = context
  const removedIn = findRemoval(context, flag)
  if (removedIn !== undefined) {
    const message = `--${flag} was removed in ${program} ${removedIn}; Kubernetes ${kubernetesVersion} comes with ${program} ${programVersion}`
    const renamed = flag.replace(/^experimental-/, '')
    const hint = Object.hasOwn(known, renamed) ? `use its new name ${renamed}` : 'remove it'
    return finding('FLAG_REMOVED', program, message, hint)
  }
  const message = `${program} ${programVersion} has no flag --${flag}`
  if (Object.hasOwn(flags.windows[program] ?? {}, flag)) {
    return finding(
      'FLAG_UNKNOWN',
      program,
      `${message} on Linux`,
      'set it in the components of a Windows host',
    )
  }
  const [since] = listMinorsWithFlag(flags, program, flag)
  if (since !== undefined) {
    return finding('FLAG_UNKNOWN', program, message, `remove it: ${program} has this flag from ${since} on`)
  }
  const list = `${program} --help lists all flags`
  const suggestion = suggestWord(flag, Object.keys(known))
  const hint =
    suggestion === undefined ? `remove it; ${list}` : `did you mean ${suggestion}? If not, remove it; ${list}`
  return finding('FLAG_UNKNOWN', program, message, hint)
}

/**
 * Returns the minor version in which a flag was removed, or undefined if no older minor is known to have had
 * the flag.
 */
function findRemoval({ flags, program, programVersion }: FlagContext, flag: string): string | undefined {
  const listed = flags.removed.find((removed) => removed.program === program && matches(removed.flag, flag))
  if (listed !== undefined && compareVersions(programVersion, listed.removedIn) >= 0) return listed.removedIn
  const last = listMinorsWithFlag(flags, program, flag).findLast(
    (minor) => compareVersions(minor, toMinor(programVersion)) < 0,
  )
  return last === undefined ? undefined : nextMinor(last)
}

/** Returns the following minor. Upstream numbers minors without gaps. */
function nextMinor(minor: string): string {
  return minor.replace(/\d+$/, (number) => String(Number(number) + 1))
}

/** True for the values that Go's strconv.ParseBool accepts. YAML's yes and no are not among them. */
function isBoolean(value: string): boolean {
  return /^(?:1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$/.test(value)
}

function notBoolean({ program }: FlagContext, flag: string, value: string): Finding {
  return finding('FLAG_VALUE', program, `--${flag} takes true or false, not ${JSON.stringify(value)}`)
}

function finding(code: string, component: ProgramName, message: string, hint?: string): Finding {
  return { code, severity: 'error', component, message, ...(hint === undefined ? {} : { hint }) }
}

function selectVersion(program: ProgramName, release: KubernetesRelease): string {
  switch (program) {
    case 'etcd':
      return release.etcd
    case 'flanneld':
      return release.flannel
    case 'kube-router':
      return release.kubeRouter
    default:
      return release.kubernetes
  }
}

function matches(pattern: string, flag: string): boolean {
  return pattern.endsWith('*') ? flag.startsWith(pattern.slice(0, -1)) : flag === pattern
}
