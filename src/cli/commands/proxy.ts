import { once } from 'node:events'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { toPrintable } from '../../kit/text.ts'
import { formatHostPort, parseHostPort } from '../../kit/host-port.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { openApiProxy } from '../proxy/api-proxy.ts'
import { type LeafCommand, exitCodes } from '../command/command.ts'
import { formatFileFlag } from '../../workspace/cluster-paths.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { formatFindings } from '../command/print.ts'

const flags = z.object({ listen: z.string().default('127.0.0.1:6443') })

export const proxyCommand: LeafCommand = {
  examples: [
    ['hyperkube proxy', 'balance connections at 127.0.0.1:6443 across healthy control planes'],
    [
      'hyperkube kubeconfig --server https://127.0.0.1:6443 > kubeconfig',
      'write a kubeconfig that uses the proxy',
    ],
    ['hyperkube proxy --listen 127.0.0.1:7443', 'listen on another port'],
  ],
  sharedFlags: ['file', 'key'],
  configure(command) {
    command.option(
      '--listen <address>',
      'listen on this address and port (default: 127.0.0.1:6443)',
      parseListenFlag,
    )
  },
  async run(context, { options }) {
    const { listen } = flags.parse(options)
    const { stderr, signal } = context
    const { cluster, findings } = await loadCluster(context, options.file)
    stderr.write(formatFindings(findings))
    if (cluster === undefined) return exitCodes.failure
    const { kubernetes } = (await openIdentity(context, options, cluster.metadata.name)).cas
    const print = (line: string): void => void stderr.write(`${toPrintable(line)}\n`)
    const server = await openApiProxy(context, cluster, kubernetes, listen, print)
    try {
      const { host } = parseHostPort(listen)
      const url = `https://${formatHostPort(host, server.port ?? 0)}`
      print(`serving the API of ${cluster.metadata.name} at ${url} until Ctrl-C`)
      print(`  → hyperkube kubeconfig --server ${url}${formatFileFlag(options.file)} > kubeconfig`)
      if (!isInCertificates(host, cluster)) {
        print(`the certificates of the API servers do not contain ${host}, so clients will reject them`)
        print(`  → listen on 127.0.0.1, or add ${host} to spec.api.sans and run: hyperkube up`)
      }
      if (!signal.aborted) await once(signal, 'abort')
    } finally {
      await server.stop()
    }
    signal.throwIfAborted()
    return exitCodes.ok
  },
}

function parseListenFlag(text: string): string {
  const { host, port } = parseHostPort(text)
  if (host === '' || !/:\d+$/.test(text) || port > 65_535) {
    throw new InvalidArgumentError('expected ADDRESS:PORT, such as 127.0.0.1:6443')
  }
  return text
}

/** True if the certificates of the API servers contain the address that clients use. */
function isInCertificates(host: string, { spec }: Cluster): boolean {
  return ['127.0.0.1', 'localhost', ...spec.api.sans].includes(host)
}
