import type { Finding } from '../contract/finding.ts'
import type { Cluster } from './cluster.ts'
import type { Path } from './document.ts'

/** What is wrong with a cluster whose every field is right in itself. */
export type Problem = Pick<Finding, 'code' | 'severity' | 'message' | 'hint'> & { readonly path: Path }

export type Rule = (cluster: Cluster) => readonly Problem[]

export function problem(code: string, path: Path, message: string, hint?: string): Problem {
  return { code, severity: 'error', path, message, ...(hint === undefined ? {} : { hint }) }
}

export function warning(code: string, path: Path, message: string, hint?: string): Problem {
  return { ...problem(code, path, message, hint), severity: 'warning' }
}
