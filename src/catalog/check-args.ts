import type { Finding } from '../contract/finding.ts'
import { nearest } from '../kit/suggest.ts'
import { catalogFor } from './catalog.ts'
import { flagsOf, minorOf, minorsWith } from './known-flags.ts'
import type { Flags, Program } from './program-flags.ts'
import type { Release } from './kubernetes-release.ts'
import { removedFlags } from './removed-flags.ts'
import type { Os } from './artifact-target.ts'
import { compareVersions } from './version.ts'
import { windowsFlags } from './windows-flags.ts'

/** What in a program's flags, written without dashes, it would refuse to start with in a version of Kubernetes. */
export function checkArgs(
  program: Program,
  args: Readonly<Record<string, string>>,
  version: string,
  os: Os,
): readonly Finding[] {
  const subject = { program, has: versionOf(program, catalogFor(version)), version }
  const everywhere = flagsOf(program, subject.has)
  if (everywhere === undefined) return []
  const known = os === 'windows' ? { ...everywhere, ...windowsFlags[program] } : everywhere
  return Object.entries(args).flatMap(([flag, value]) => {
    if (!Object.hasOwn(known, flag)) return [notThere(subject, flag, known)]
    return known[flag] === 'boolean' && !isBoolean(value) ? [notBoolean(subject, flag, value)] : []
  })
}

interface Subject {
  readonly program: Program
  /** The version of the program itself. */
  readonly has: string
  /** The version of Kubernetes that it comes with. */
  readonly version: string
}

function notThere(subject: Subject, flag: string, known: Flags): Finding {
  const { program, has, version } = subject
  const removedIn = removal(subject, flag)
  if (removedIn !== undefined) {
    const message = `--${flag} was removed in ${program} ${removedIn}; Kubernetes ${version} comes with ${program} ${has}`
    const renamed = flag.replace(/^experimental-/, '')
    const hint = Object.hasOwn(known, renamed) ? `it is called ${renamed} now` : 'take it out'
    return finding('FLAG_REMOVED', program, message, hint)
  }
  const message = `${program} ${has} has no flag --${flag}`
  if (Object.hasOwn(windowsFlags[program] ?? {}, flag)) {
    return finding(
      'FLAG_UNKNOWN',
      program,
      `${message} on Linux`,
      'set it in the components of a Windows host',
    )
  }
  const [since] = minorsWith(program, flag)
  if (since !== undefined) {
    return finding(
      'FLAG_UNKNOWN',
      program,
      message,
      `${program} has it from ${since} on; take it out until then`,
    )
  }
  const list = `${program} --help lists the flags that there are`
  const meant = nearest(flag, Object.keys(known))
  const hint =
    meant === undefined ? `take it out; ${list}` : `did you mean ${meant}? If not, take it out; ${list}`
  return finding('FLAG_UNKNOWN', program, message, hint)
}

/** The first minor without the flag, up to the one there is; nothing when no older one is known to have taken it. */
function removal({ program, has }: Subject, flag: string): string | undefined {
  const certain = removedFlags.find((removed) => removed.program === program && matches(removed.flag, flag))
  if (certain !== undefined && compareVersions(has, certain.removedIn) >= 0) return certain.removedIn
  const last = minorsWith(program, flag).findLast((minor) => compareVersions(minor, minorOf(has)) < 0)
  return last === undefined ? undefined : minorAfter(last)
}

/** Upstream counts its minors without gaps. */
function minorAfter(minor: string): string {
  return minor.replace(/\d+$/, (number) => String(Number(number) + 1))
}

/** Go's own reading of true and false. A yes of YAML of old is none. */
function isBoolean(value: string): boolean {
  return /^(?:1|t|T|true|TRUE|True|0|f|F|false|FALSE|False)$/.test(value)
}

function notBoolean({ program }: Subject, flag: string, value: string): Finding {
  return finding('FLAG_VALUE', program, `--${flag} takes true or false, not ${JSON.stringify(value)}`)
}

function finding(code: string, component: Program, message: string, hint?: string): Finding {
  return { code, severity: 'error', component, message, ...(hint === undefined ? {} : { hint }) }
}

function versionOf(program: Program, release: Release): string {
  switch (program) {
    case 'etcd':
      return release.etcd
    case 'flanneld':
      return release.flannel
    default:
      return release.kubernetes
  }
}

function matches(pattern: string, flag: string): boolean {
  return pattern.endsWith('*') ? flag.startsWith(pattern.slice(0, -1)) : flag === pattern
}
