import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildExecutable, currentTarget } from '../../scripts/executable.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    executable: string
  }
}

/** Builds hyperkube once for all suites of a run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-'))
  project.provide('executable', await buildExecutable(currentTarget(), directory))
  return async () => rm(directory, { recursive: true, force: true })
}
