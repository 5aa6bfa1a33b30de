import { join } from '../host/host-path.ts'
import { type Ledger, ledgerFormat } from '../../contract/ledger.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Host } from '../host/host.ts'
import { resolveAccess } from './planned-access.ts'

export function ledgerPath({ layout }: Pick<Host, 'layout'>): string {
  return join(layout.state, 'ledger.json')
}

/** Reads the ledger of a host; undefined if hyperkube never changed the host. */
export async function readLedger(host: Host): Promise<Ledger | undefined> {
  const text = await host.files.read(ledgerPath(host))
  if (text === undefined) return undefined
  try {
    return readVersioned(ledgerFormat, JSON.parse(text.toString('utf8')))
  } catch (cause) {
    throw new HyperkubeError('APPLY_LEDGER_NOT_READ', `${ledgerPath(host)} cannot be read`, {
      hint: `move it away: the next run then inspects the host again, and nothing is lost`,
      cause,
    })
  }
}

export async function writeLedger(host: Host, ledger: Ledger): Promise<void> {
  const access = await resolveAccess(host, { owner: 'root', mode: '0600' })
  if ((await host.files.stat(host.layout.state)) === undefined) {
    await host.files.makeDirectory(host.layout.state, { ...access, mode: 0o700 })
  }
  await host.files.write(ledgerPath(host), Buffer.from(`${JSON.stringify(ledger)}\n`), access)
}

/** The ledger of a run. `save` writes to disk first, so the ledger in memory is never newer than the file. */
export class LedgerStore {
  readonly #host: Host
  #ledger: Ledger

  constructor(host: Host, ledger: Ledger) {
    this.#host = host
    this.#ledger = ledger
  }

  get ledger(): Ledger {
    return this.#ledger
  }

  async save(next: Ledger): Promise<void> {
    if (next === this.#ledger) return
    await writeLedger(this.#host, next)
    this.#ledger = next
  }
}
