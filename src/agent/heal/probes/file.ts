import { type ProbeRunner, failedResult, healthyResult } from './probe-runner.ts'
import type { ProbeDeps } from './probe-deps.ts'

/** Checks whether a file exists and is not empty. */
export function createFileProbe({ files }: Pick<ProbeDeps, 'files'>): ProbeRunner<'file'> {
  return async ({ path }) => {
    const facts = await files.stat(path)
    if (facts === undefined) return failedResult('HEALTH_CHECK_FAILED', `there is no ${path}`)
    return facts.size === 0 ? failedResult('HEALTH_CHECK_FAILED', `${path} is empty`) : healthyResult
  }
}
