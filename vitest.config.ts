import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Suites of the projects e2e and full. Each file reads its size with `inject('size')`. */
const suitesOfBothSizes = ['test/e2e/{etcd,up,watch}.test.ts']
/** Suites without limits on measured times, most of which wait for timeouts. Two of them may run at once. */
const waitingSuites = [
  'test/e2e/{air-gap,etcd,faults,interruptions,kube,release-upgrade,watch,windows-workers}.test.ts',
]

/** Examples import the package by its name, and run from its sources here. */
const alias = [
  { find: /^hyperkube$/, replacement: join(import.meta.dirname, 'src/sdk/hyperkube.ts') },
  { find: /^hyperkube\/(\w+)$/, replacement: join(import.meta.dirname, 'src/sdk/$1.ts') },
]

export default defineConfig({
  resolve: { alias },
  test: {
    globalSetup: ['test/support/executable-setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{src,lab,scripts,examples,test/support}/**/*.test.ts'],
          setupFiles: ['scripts/property-runs.ts'],
          // No module has a state, so that files may share them: to load them for each takes longer than the tests.
          isolate: false,
          // Every core: the process that hands out files does next to nothing.
          maxWorkers: '100%',
          // Ends only what hangs: a property takes many turns, and the machine may be busy.
          testTimeout: process.env['PROPERTY_RUNS'] === undefined ? 60_000 : 1_200_000,
          hookTimeout: 60_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'host',
          include: ['test/host/**/*.test.ts', ...waitingSuites],
          provide: { size: 'ci' },
          // No time is measured here: two labs at once.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: waitingSuites,
          provide: { size: 'ci' },
          // Suites share two cores and one kernel: one lab at a time keeps timings honest.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'full',
          include: ['test/full/**/*.test.ts', ...suitesOfBothSizes],
          provide: { size: 'full' },
          // What takes too long for every change.
          fileParallelism: false,
          sequence: { groupOrder: 3 },
          testTimeout: 600_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
})
