import type { Finding } from '../contract/finding.ts'
import type { Cluster } from './cluster.ts'
import type { Path } from './document.ts'

/**
 * A problem that a rule found in a cluster.yml, for example a conflict between two fields. Rules run only if
 * each field is valid on its own.
 */
export type Problem = Pick<Finding, 'code' | 'severity' | 'message' | 'hint' | 'component' | 'host'> & {
  readonly path: Path
}

export type ClusterRule = (cluster: Cluster) => readonly Problem[]

export function problem(code: string, path: Path, message: string, hint?: string): Problem {
  return { code, severity: 'error', path, message, ...(hint === undefined ? {} : { hint }) }
}

export function warningProblem(code: string, path: Path, message: string, hint?: string): Problem {
  return { ...problem(code, path, message, hint), severity: 'warning' }
}
