import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildExecutable, compressExecutable } from '../../scripts/executable.ts'
import { currentTarget } from '../../scripts/executable/runtime.ts'

/**
 * Selects how much a suite tests: `ci` in `npm run e2e`, `full` in `npm run e2e:full`. vitest.config.ts sets
 * the size.
 */
export type SuiteSize = 'ci' | 'full'

declare module 'vitest' {
  export interface ProvidedContext {
    executable: string
    size: SuiteSize
  }
}

/** Builds hyperkube once for all suites of a run. Unit tests do not need the executable. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (project.vitest.projects.every(({ name }) => name === 'unit')) return undefined
  const directory = await mkdtemp(join(tmpdir(), 'hyperkube-'))
  const executable = await buildExecutable(currentTarget(), directory)
  await compressExecutable(executable)
  project.provide('executable', executable)
  return async () => rm(directory, { recursive: true, force: true })
}
