import { readResponseText, sendRequest } from '../../kit/https-request.ts'
import { createHttpsAgent, type Dial } from '../../kit/tunnel.ts'
import { truncateList } from '../../kit/text.ts'
import { formatError } from '../../kit/errors.ts'
import { parseFailingChecks } from '../../kube/readiness.ts'
import type { NotReadyReason } from './cluster-client.ts'

/**
 * Ports of the controllers on the loopback address of each control plane. The agent's probes use the same
 * ports.
 */
export const controllerPorts: Readonly<Record<string, number>> = {
  'kube-controller-manager': 10257,
  'kube-scheduler': 10259,
}

/** Timeouts of one check, the same as in the agent's probes. */
const timeouts = { connectMs: 5000, responseMs: 5000 }
const maxResponseBytes = 65_536
const maxNamed = 2

/**
 * Checks `/healthz` of all controllers of one control plane. Like the agent's probes, the request carries no
 * client certificate, because the servers allow this path to all clients.
 */
export async function checkControllers(ca: string, dial: Dial, signal: AbortSignal): Promise<NotReadyReason> {
  const agent = createHttpsAgent(dial, { keepAlive: false })
  const checks = Object.entries(controllerPorts).map(async ([component, port]) => {
    const request = {
      url: `https://127.0.0.1:${port}/healthz`,
      method: 'GET',
      headers: {},
      body: undefined,
      agent,
      identity: { ca },
      timeouts,
      signal,
    }
    try {
      const response = await sendRequest(request)
      const text = await readResponseText(response, maxResponseBytes, signal)
      return response.statusCode === 200 ? [] : [`${component} ${explainFailure(response.statusCode, text)}`]
    } catch (error) {
      signal.throwIfAborted()
      return [`${component}: ${formatError(error)}`]
    }
  })
  const reasons = (await Promise.all(checks)).flat()
  return reasons.length === 0 ? undefined : reasons.join('; ')
}

function explainFailure(status: number | undefined, text: string): string {
  const failing = parseFailingChecks(text)
  return failing.length > 0
    ? `fails the checks ${truncateList(failing, maxNamed)}`
    : `returns status ${status}`
}
