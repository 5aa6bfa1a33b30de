import { mkdir, rm, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { localServices } from '../../src/agent/windows/host/this-windows.ts'
import { runFirstReport } from '../../lab/windows/simulator/first-report.ts'
import { powershellHost } from '../../src/agent/windows/powershell/powershell-host.ts'
import { readHostScript } from '../../src/agent/windows/powershell/script.ts'

/**
 * Options of the first run on a real Windows host, as an administrator; see docs/windows.md. `--powershell`,
 * given once for the program and once for each argument, replaces the host's PowerShell. `--services
 * powershell` reads services through PowerShell instead of the Service Control Manager.
 */
const { values } = parseArgs({
  options: {
    changes: { type: 'boolean', default: false },
    out: { type: 'string', default: 'first-run.json' },
    powershell: { type: 'string', multiple: true, default: [] },
    services: { type: 'string', default: 'manager' },
  },
})
const [program, ...args] = values.powershell
const scratch = String.raw`C:\hyperkube-first-run`

if (process.platform === 'win32') await mkdir(scratch, { recursive: true })
try {
  await using powershell = powershellHost({
    script: await readHostScript(),
    ...(program === undefined ? {} : { argv: [program, ...args] as const }),
  })
  const services = values.services === 'powershell' ? powershell.host.services : localServices()
  const report = await runFirstReport({ ...powershell.host, services }, scratch, {
    changes: values.changes,
    now: () => performance.now(),
  })
  await writeFile(values.out, `${JSON.stringify(report, undefined, 2)}\n`)
  const failed = [...report.reads, ...report.checks].filter(({ error }) => error !== undefined)
  process.stdout.write(
    `${report.reads.length} reads, ${report.checks.length} checks, ${failed.length} failed: ${values.out}\n`,
  )
  process.exitCode = failed.length === 0 ? 0 : 1
} finally {
  if (process.platform === 'win32') await rm(scratch, { recursive: true, force: true })
}
