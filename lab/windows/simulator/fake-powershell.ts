import { createInterface } from 'node:readline'
import { formatOpeningLine, readHostScript } from '../../../src/agent/host/windows/powershell/session.ts'

/**
 * Arguments of this program, a fake powershell.exe for tests: a fault, and the number of the request that
 * fails. The program accepts the same input lines as powershell.exe and acts on a simulated host.
 */
const [fault = 'none', count = '0'] = process.argv.slice(2)
const faultAt = Number(count)

// Like the powershell.exe stub of Wine: exits with 0 and does nothing.
if (fault === 'stub') process.exit(0)

const opening = formatOpeningLine(await readHostScript())
let requestCount = 0

/**
 * The simulator. It is not created if the first request must fail, because the process then starts faster.
 */
const simulated = fault !== 'none' && faultAt === 1 ? undefined : await simulate()

async function simulate() {
  const { newMachine } = await import('./new-machine.ts')
  const { simulatedHost } = await import('./simulated-host.ts')
  const { advance } = await import('./time.ts')
  const { machine, respond: response } = simulatedHost(newMachine(new Map()))
  return (operation: string, input: unknown) => {
    advance(machine, 1000)
    return response(operation, input)
  }
}

/** Writes a response in the same format as Write-Response of host.ps1. */
function writeResponse(response: object): void {
  const json = JSON.stringify(response).replaceAll(
    /[^\x20-\x7e]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
  process.stdout.write(` \r\nhyperkube ${json}\r\n`)
}

function reply(line: string): void {
  const encoded = /^Invoke-HyperkubeRequest '([A-Za-z0-9+/=]*)'$/.exec(line)?.[1]
  if (encoded === undefined) return void process.stdout.write(`${line} : The term is not recognized\r\n`)
  const { id, operation, input } = JSON.parse(Buffer.from(encoded, 'base64').toString('utf8'))
  try {
    writeResponse({ id, ok: true, output: simulated?.(operation, input) })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    writeResponse({ id, ok: false, error: { message, type: 'System.Exception', about: operation } })
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  if (`${line}\n` === opening) return writeResponse({ id: 0, ok: true, output: [] })
  if (++requestCount !== faultAt || fault === 'none') return reply(line)
  if (fault === 'hang') return undefined
  if (fault === 'die') process.exit(3)
  if (fault === 'complain') process.stdout.write('The module was slow\r\n')
  if (fault === 'other') writeResponse({ id: 4711, ok: true, output: [] })
  if (fault === 'half') process.stdout.write('hyperkube {"id":1,"ok":tr\r\n')
  if (fault === 'shape') writeResponse({ id: requestCount, ok: true, output: [{ Name: 7 }] })
  return undefined
})
