import type { Look } from '../../observe/observe-cluster.ts'
import { commandFor } from '../commands.ts'
import type { Diagnosis } from '../diagnosis.ts'
import { probesOf } from './probes.ts'

const component = 'kube-apiserver'

/** The API as an operator sees it: as a whole, and its servers where no probe has said so. */
export function apiOfAll(look: Look): Diagnosis[] {
  const servers = [...look.api].filter(([host]) => isThere(host, look))
  const unwell = servers.flatMap(([host, seen]) => (seen.well ? [] : [{ host, reason: seen.reason }]))
  const isDown = unwell.length > 0 && [...look.api.values()].every(({ well }) => !well)
  return [
    ...(isDown ? [down(look)] : []),
    ...unwell.filter(({ host }) => !isTold(host, look)).map(({ host, reason }) => notReady(host, reason)),
  ]
}

/** Of a host that is away one knows already that nothing of it answers. */
function isThere(host: string, { hosts }: Look): boolean {
  return hosts.find(({ place }) => place.host === host)?.away === undefined
}

function isTold(host: string, { hosts }: Look): boolean {
  const look = hosts.find(({ place }) => place.host === host)
  return (
    look !== undefined &&
    probesOf(look).some(
      (probe) => probe.component === component && (probe.state === 'failing' || probe.state === 'shaky'),
    )
  )
}

function down({ api, hosts }: Look): Diagnosis {
  const since = hosts
    .flatMap(probesOf)
    .flatMap(({ code, state, since: began }) =>
      (code === 'API_NOT_READY' || code === 'API_NOT_REACHED') && state !== 'well' ? [began] : [],
    )
    .toSorted()[0]
  return {
    code: 'API_DOWN',
    severity: 'error',
    what: 'no API server is ready: pods go on as they are, and nothing can be changed',
    ...(since === undefined ? {} : { since }),
    component,
    evidence: [...api].flatMap(([host, seen]) => (seen.well ? [] : [`${host}: ${seen.reason}`])),
    command: commandFor({ code: 'API_DOWN' }),
    needsPerson: false,
  }
}

function notReady(host: string, reason: string): Diagnosis {
  return {
    code: 'API_NOT_READY',
    severity: 'error',
    what: 'its API server is not ready',
    host,
    component,
    evidence: [reason],
    command: commandFor({ code: 'API_NOT_READY', host }),
    needsPerson: false,
  }
}
