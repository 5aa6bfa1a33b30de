import type { HostAnswer, HostAsk } from '../../../contract/host-call.ts'
import { serviceRestartsFormat } from '../../../contract/service-restarts.ts'
import { readState } from '../../apply/state-file.ts'
import { restartsFile } from '../heal/watch-restarts.ts'
import type { ServiceState } from '../operations/services.ts'
import { sizeOf } from './host-files.ts'
import type { CallScene } from './host-call-context.ts'
import { currentVersion } from './switch-agent.ts'

type AskFor<T extends HostAsk['type']> = Extract<HostAsk, { type: T }>
type Shown = Extract<HostAnswer['answer'], { type: 'services' }>['services'][number]

/** More than this share used: kubelets are about to fail, or do already. */
const full = 0.98

export async function services(
  scene: CallScene,
  { names }: AskFor<'services'>,
): Promise<HostAnswer['answer']> {
  const seen = new Map(
    (await scene.host.operations.services.list({ names: [...names] })).map((one) => [one.name, one]),
  )
  const version = await currentVersion(scene)
  const counted = (await readState(scene.host, restartsFile, serviceRestartsFormat))?.services ?? {}
  return {
    type: 'services',
    ...(version === undefined ? {} : { version }),
    services: names.map((name) => {
      const restarts = counted[name]
      return { ...shown(name, seen.get(name)), ...(restarts === undefined ? {} : { restarts }) }
    }),
  }
}

/** No such service was ever started: it says so in place of an exit code. */
const neverStarted = 1077

function shown(name: string, service: ServiceState | undefined): Shown {
  if (service === undefined) return { name, state: 'missing' }
  const { state, exitCode, startMode } = service
  const failed = exitCode !== 0 && exitCode !== neverStarted
  return {
    name,
    state:
      state === 'Running'
        ? 'active'
        : state === 'Start Pending' || state === 'Continue Pending'
          ? 'starting'
          : state === 'Stopped' && failed
            ? 'failed'
            : 'stopped',
    enabled: startMode === 'Auto',
  }
}

/** What an agent would say as well, for when there is none that answers. */
export async function ground(
  { host, places, used: usedOf }: CallScene,
  { names }: AskFor<'ground'>,
): Promise<HostAnswer['answer']> {
  const used = await usedOf(places.base)
  const programs: { service: string; path: string }[] = []
  for (const { name, commandLine } of await host.operations.services.list({ names: [...names] })) {
    for (const path of programsIn(commandLine)) {
      if (((await sizeOf(host.files, path)) ?? 0) === 0) programs.push({ service: name, path })
    }
  }
  const mounted = `${places.base.slice(0, 2)}\\`
  return { type: 'ground', disks: used >= full ? [{ mounted, used }] : [], programs }
}

/** The program, and the one that it runs as a service, where that does not know how to be one. */
export function programsIn(commandLine: string): readonly string[] {
  const words = [...commandLine.matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
  return words.filter((word) => /^[A-Za-z]:\\.*\.exe$/i.test(word))
}
