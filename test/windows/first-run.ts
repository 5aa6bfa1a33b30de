import { mkdir, rm, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { runFirstReport } from '../../lab/windows/simulator/first-report.ts'
import { powershellHost } from '../../src/agent/host/windows/powershell/powershell-host.ts'
import { readHostScript } from '../../src/agent/host/windows/powershell/session.ts'
import { localServices } from '../../src/agent/host/windows/this-windows.ts'

/** Options of the first run on a real Windows host, which an administrator starts; see docs/windows.md. */
const { values } = parseArgs({
  options: {
    /** True to also run the checks that change the host. */
    changes: { type: 'boolean', default: false },
    /** File for the report. */
    out: { type: 'string', default: 'first-run.json' },
    /**
     * Command that starts another PowerShell: the first value is the program, and each further value is an
     * argument.
     */
    powershell: { type: 'string', multiple: true, default: [] },
    /**
     * With the value `powershell`, services are read through PowerShell instead of the Service Control
     * Manager.
     */
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
