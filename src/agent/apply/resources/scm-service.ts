import type { ScmService } from '../../../contract/service.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import type { WindowsHost } from '../../host/host.ts'
import type { ServiceState } from '../../windows/operations/services.ts'
import { programIn, serviceWish, settingsText } from '../../windows/scm/service-spec.ts'
import { sha256Of } from '../planned-file.ts'
import { notThere, removed, type Target } from '../resource-handler.ts'
import { waitFor } from '../wait-for.ts'

/** A service of Windows, as its manager keeps it. Whether it runs is looked at, and seen to, on its own. */
export const scmService: Target<'service', ScmService, WindowsHost> = {
  target: 'service',
  wish: ({ service }, name) => (service?.supervisor === 'scm' && service.name === name ? service : undefined),

  async inspect({ name, sha256 }, { host }) {
    const there = await serviceOf(host, name)
    if (there === undefined) return 'absent'
    if (there.startMode !== 'Auto') return { drift: 'it would not start with the host' }
    return sha256Of(settingsText(there)) === sha256 ? 'as-written' : { drift: 'its settings are others' }
  },

  async foresee(wish, { host, head, component }) {
    const there = await serviceOf(host, wish.name)
    if (there !== undefined && !isOurs(host, there)) throw taken(there, component.name)
    const sha256 = sha256Of(settingsText(serviceWish(wish)))
    // One that we did not know may run already, as what it was before.
    const isOther = there !== undefined && there.processId !== 0 && sha256Of(settingsText(there)) !== sha256
    return { ...head, target: 'service', sha256, started: false, unseen: isOther ? [wish.name] : [] }
  },

  async make(wish, { host, head }, former) {
    const wanted = serviceWish(wish)
    const text = settingsText(wanted)
    const there = await serviceOf(host, wish.name)
    const is = there?.startMode === 'Auto' && settingsText(there) === text
    if (!is) await host.operations.services.put(wanted)
    const { started = false, unseen = [] } = former ?? {}
    return { changed: !is, thing: { ...head, target: 'service', sha256: sha256Of(text), started, unseen } }
  },

  async remove({ name }, { host }) {
    return (await removeService(host, name)) ? removed : notThere
  },
}

/** One of ours, until its manager knows nothing of it any more. Its process, where it still has one, goes on. */
export async function removeService(host: WindowsHost, name: string): Promise<boolean> {
  const there = await serviceOf(host, name)
  if (there === undefined || !isOurs(host, there)) return false
  await host.operations.services.remove({ name })
  // It goes when the last one who looks at it has done so; one that is our own, only with us.
  if (there.processId !== 0) return true
  const { signal } = new AbortController()
  await waitFor(
    async () =>
      (await serviceOf(host, name)) === undefined ? { found: true } : { for: `${name} to be forgotten` },
    { clock: host.clock, signal, tell: () => undefined },
  )
  return true
}

async function serviceOf({ operations }: WindowsHost, name: string): Promise<ServiceState | undefined> {
  return (await operations.services.list({ names: [name] }))[0]
}

/** By the program that it runs: names are anybody's. */
function isOurs({ layout }: WindowsHost, service: ServiceState): boolean {
  return programIn(service).toLowerCase().startsWith(`${layout.base.toLowerCase()}\\`)
}

function taken(there: ServiceState, component: string): HyperkubeError {
  return new HyperkubeError(
    'APPLY_SERVICE_TAKEN',
    `the host has a service ${there.name} of somebody else already, which runs ${programIn(there)}`,
    { component, hint: `if nobody needs it any more, on the host: sc.exe delete ${there.name}` },
  )
}
