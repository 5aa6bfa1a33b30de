import { createInterface } from 'node:readline'
import { hostScript, openingLine } from '../../../src/agent/windows/powershell/script.ts'

/**
 * In the place of powershell.exe, for tests: a process that takes the same lines and answers for a simulated host. Its
 * argument says how it goes wrong, with the number of the request over which it does; without one it never does.
 */
const [trouble = 'well', count = '0'] = process.argv.slice(2)
const at = Number(count)

// As Wine's does: it ends well, and has done nothing.
if (trouble === 'stub') process.exit(0)

const opening = openingLine(await hostScript())
let asked = 0

/** Who goes wrong over the first request answers none: it starts sooner without a host. */
const simulated = trouble !== 'well' && at === 1 ? undefined : await simulate()

async function simulate() {
  const { newMachine } = await import('./new-machine.ts')
  const { simulatedHost } = await import('./simulated-host.ts')
  const { advance } = await import('./time.ts')
  const { machine, answer } = simulatedHost(newMachine(new Map()))
  return (operation: string, input: unknown) => {
    advance(machine, 1000)
    return answer(operation, input)
  }
}

/** As Write-Answer writes it. */
function say(answer: object): void {
  const json = JSON.stringify(answer).replaceAll(
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
    say({ id, ok: true, output: simulated?.(operation, input) })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    say({ id, ok: false, error: { message, type: 'System.Exception', about: operation } })
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  if (`${line}\n` === opening) return say({ id: 0, ok: true, output: [] })
  if (++asked !== at || trouble === 'well') return reply(line)
  if (trouble === 'hang') return undefined
  if (trouble === 'die') process.exit(3)
  if (trouble === 'complain') process.stdout.write('The module was slow\r\n')
  if (trouble === 'other') say({ id: 4711, ok: true, output: [] })
  if (trouble === 'half') process.stdout.write('hyperkube {"id":1,"ok":tr\r\n')
  if (trouble === 'shape') say({ id: asked, ok: true, output: [{ Name: 7 }] })
  return undefined
})
