import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import packageFile from '../package.json' with { type: 'json' }
import { runProgram } from '../src/kit/command.ts'

/**
 * Number of runs of every property test. This script runs the tests and writes the results to docs/evidence.
 */
const runCount = Number(process.argv[2] ?? 3000)
const root = join(import.meta.dirname, '..')

const report = z.object({
  startTime: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          duration: z.number().nullish(),
          failureMessages: z.array(z.string()).default([]),
        }),
      ),
    }),
  ),
})

async function main(): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'properties-'))
  try {
    const output = join(work, 'report.json')
    const vitest = join(root, 'node_modules/vitest/vitest.mjs')
    const { code } = await runProgram(
      [
        process.execPath,
        vitest,
        'run',
        '--project',
        'unit',
        '--reporter=json',
        `--outputFile=${output}`,
        'property',
      ],
      { cwd: root, env: { ...process.env, PROPERTY_RUNS: String(runCount) }, allowFailure: true },
    )
    const found = report.parse(JSON.parse(await readFile(output, 'utf8')))
    // The message contains the seed with which the failure can be repeated.
    for (const { failureMessages } of found.testResults.flatMap(({ assertionResults }) => assertionResults))
      for (const message of failureMessages) process.stderr.write(`${message}\n`)
    const text = renderEvidence(found)
    await writeFile(join(root, 'docs/evidence/properties.md'), text)
    process.stdout.write(text)
    process.exitCode = code
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

function renderEvidence({ startTime, testResults }: z.infer<typeof report>): string {
  const rows = testResults
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap(({ name, assertionResults }) => {
      const file = name.slice(name.indexOf('/src/') + 1)
      return assertionResults.map(
        ({ fullName, status, duration }) =>
          `| ${file} | ${fullName.trim()} | ${status} | ${((duration ?? 0) / 1000).toFixed(1)} s |`,
      )
    })
  return `# Properties

Written by \`npm run test:full\` on ${new Date(startTime).toISOString().slice(0, 10)}, hyperkube ${packageFile.version},
Node ${process.versions.node}; ${runCount} runs each with new seeds, unless a test sets its own number.

| file | property | | |
|---|---|---|---|
${rows.join('\n')}
`
}

await main()
