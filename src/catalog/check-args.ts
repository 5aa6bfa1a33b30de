import type { Finding } from '../contract/finding.ts'
import { catalogFor } from './catalog.ts'
import type { Release } from './release.ts'
import { type Program, removedFlags } from './removed-flags.ts'
import { compareVersions } from './version.ts'

/** The flags, written without dashes, that a program no longer has in a version of Kubernetes. */
export function checkArgs(
  program: Program,
  args: Readonly<Record<string, string>>,
  version: string,
): readonly Finding[] {
  const has = versionOf(program, catalogFor(version))
  const gone = removedFlags.filter(
    (removed) => removed.program === program && compareVersions(has, removed.removedIn) >= 0,
  )
  return Object.keys(args).flatMap((flag) =>
    gone
      .filter((removed) => matches(removed.flag, flag))
      .map(({ removedIn }): Finding => ({
        code: 'FLAG_REMOVED',
        severity: 'error',
        component: program,
        message: `--${flag} was removed in ${program} ${removedIn}; Kubernetes ${version} comes with ${program} ${has}`,
        hint: `take it out; ${program} --help lists the flags that there are`,
      })),
  )
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
