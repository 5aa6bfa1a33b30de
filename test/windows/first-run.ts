import { mkdir, rm, writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { managedServices } from '../../src/agent/windows/host/this-windows.ts'
import { firstReport } from '../../lab/windows/simulator/first-report.ts'
import { powershellHost } from '../../src/agent/windows/powershell/powershell-host.ts'
import { hostScript } from '../../src/agent/windows/powershell/script.ts'

/**
 * For the first person who runs this on a real Windows, as an administrator: docs/windows.md says how. `--powershell`,
 * once for the program and once for each of its arguments, takes another one than the host's. `--services powershell` asks
 * it for services, too, in place of their manager.
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
  await using lent = powershellHost({
    script: await hostScript(),
    ...(program === undefined ? {} : { argv: [program, ...args] as const }),
  })
  const services = values.services === 'powershell' ? lent.host.services : managedServices()
  const report = await firstReport({ ...lent.host, services }, scratch, {
    changes: values.changes,
    now: () => performance.now(),
  })
  await writeFile(values.out, `${JSON.stringify(report, undefined, 2)}\n`)
  const wrong = [...report.looks, ...report.checks].filter(({ error }) => error !== undefined)
  process.stdout.write(
    `${report.looks.length} looks, ${report.checks.length} checks, ${wrong.length} wrong: ${values.out}\n`,
  )
  process.exitCode = wrong.length === 0 ? 0 : 1
} finally {
  if (process.platform === 'win32') await rm(scratch, { recursive: true, force: true })
}
