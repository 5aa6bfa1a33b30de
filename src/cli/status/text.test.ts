import { expect, test } from 'vitest'
import { statusText } from './text.ts'

const plain = (_colour: string, text: string): string => text

test('a row for each host, and below it what is wrong', () => {
  const service = (name: string, state: 'active' | 'failed') => ({ name, state, restarts: 0 })
  const text = statusText(
    [
      {
        host: 'cp1',
        away: undefined,
        version: '0.1.0',
        services: [service('etcd', 'active'), service('kubelet', 'failed')],
        etcd: { well: true },
        api: { well: true },
        node: { well: false, reason: 'kubelet stopped posting', version: 'v1.37.1' },
      },
      {
        host: 'w1',
        away: 'nobody answers at 10.0.0.2',
        version: undefined,
        services: [],
        node: { well: true },
      },
    ],
    false,
    plain,
  )
  expect(text).toMatchInlineSnapshot(`
    "HOST  ANSWERS  SERVICES  ETCD  API    NODE
    cp1   yes      1/2       well  ready  not ready
    w1    no       ?         -     -      ready

    cp1: kubelet is failed; on the host: journalctl -u kubelet -n 50
    cp1: node: kubelet stopped posting
    w1: nobody answers at 10.0.0.2
    "
  `)
})
