import type { HostCallBody, HostCallResponse } from '../../contract/host-call.ts'
import { serviceRestartsFormat } from '../../contract/windows-state.ts'
import { readState } from '../records/state-file.ts'
import { restartsFile } from '../heal/windows/watch-restarts.ts'
import type { ServiceState } from '../host/windows-operations/services.ts'
import { type HostCallContext, readHostFileSize } from './host-call-context.ts'
import { readCurrentVersion } from './switch-agent.ts'

type RequestFor<T extends HostCallBody['type']> = Extract<HostCallBody, { type: T }>
type ServiceRow = Extract<HostCallResponse['body'], { type: 'services' }>['services'][number]

/** A disk counts as full if at least this share of it is used. The kubelet then fails or is about to fail. */
const fullRatio = 0.98

export async function listHostServices(
  context: HostCallContext,
  { names }: RequestFor<'services'>,
): Promise<HostCallResponse['body']> {
  const observed = new Map(
    (await context.host.operations.services.list({ names: [...names] })).map((one) => [one.name, one]),
  )
  const version = await readCurrentVersion(context)
  const restartCounts = (await readState(context.host, restartsFile, serviceRestartsFormat))?.services ?? {}
  return {
    type: 'services',
    ...(version === undefined ? {} : { version }),
    services: names.map((name) => {
      const restarts = restartCounts[name]
      return { ...toServiceRow(name, observed.get(name)), ...(restarts === undefined ? {} : { restarts }) }
    }),
  }
}

/** ERROR_SERVICE_NEVER_STARTED, the exit code that Windows reports for a service that has never run. */
const neverStarted = 1077

function toServiceRow(name: string, service: ServiceState | undefined): ServiceRow {
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

/** Finds a full disk and missing programs. Used for hosts whose agent does not respond. */
export async function readHostDiskState(
  { host, paths, readDiskUsage: readUsage }: HostCallContext,
  { names }: RequestFor<'disk-state'>,
): Promise<HostCallResponse['body']> {
  const used = await readUsage(paths.base)
  const programs: { service: string; path: string }[] = []
  for (const { name, commandLine } of await host.operations.services.list({ names: [...names] })) {
    for (const path of parseProgramPaths(commandLine)) {
      if (((await readHostFileSize(host.files, path)) ?? 0) === 0) programs.push({ service: name, path })
    }
  }
  const mounted = `${paths.base.slice(0, 2)}\\`
  return { type: 'disk-state', disks: used >= fullRatio ? [{ mounted, usedShare: used }] : [], programs }
}

/**
 * Returns the programs in a command line: the service program and, if it is a wrapper, the wrapped program.
 */
export function parseProgramPaths(commandLine: string): readonly string[] {
  const words = [...commandLine.matchAll(/"([^"]*)"|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  )
  return words.filter((word) => /^[A-Za-z]:\\.*\.exe$/i.test(word))
}
