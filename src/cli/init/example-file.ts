import { stringify } from 'yaml'
import { newestKubernetes } from '../../spec/scalars.ts'
import { addFileHeader } from './file-header.ts'

/**
 * Renders a cluster.yml for a cluster on the operator's own machine, so that init needs no further settings.
 * Common settings follow as YAML comments.
 */
export function renderExampleFile(name: string): string {
  return addFileHeader(`apiVersion: hyperkube.dev/v1
kind: Cluster
metadata:
  name: ${stringify(name, { blockQuote: false }).trimEnd()}
spec:
  kubernetes: ${newestKubernetes}
  hosts:
    # This machine itself, without ssh. A local host is a cluster of its own.
    - name: cp1
      address: localhost
      local: true
      roles: [control-plane, worker]
    # Hosts that are reached by ssh, in its place:
    # - name: cp1
    #   address: 192.168.1.11
    #   roles: [control-plane]
    #   ssh: { user: root }
    # - name: w1
    #   address: 192.168.1.21
    #   roles: [worker]
    #   ssh: { user: root }

  # From here on all is as it would be anyway. Take the # away to change it.
  # network:
  #   plugin: flannel           # none: bring a network of your own
  #   pods: 10.244.0.0/16       # addresses that nothing else around the hosts uses
  #   services: 10.96.0.0/16
  # api:
  #   port: 6443
  #   sans: []                  # more names in the API servers' certificates
  # security:
  #   podSecurity: baseline     # or privileged, or restricted
  # artifacts: upstream         # or { mirror: https://... }
  # rollout:
  #   maxUnavailable: 10%       # workers that may be away at once
`)
}
