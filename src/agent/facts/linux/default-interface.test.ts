import { expect, test } from 'vitest'
import { parseRoutes } from './default-interface.ts'

const heading = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT'

function routes(...lines: readonly string[]): string {
  return `${[heading, ...lines].join('\n')}\n`
}

test('of two default routes the one with the lower metric counts', () => {
  const text = routes(
    'wlp2s0\t00000000\t0101A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0',
    'enp1s0\t00000000\t0100000A\t0003\t0\t0\t100\t00000000\t0\t0\t0',
    'enp1s0\t0000000A\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0',
  )
  expect(parseRoutes(text)).toBe('enp1s0')
})

test('half of the internet is no default route, nor is one that leads nowhere', () => {
  const text = routes(
    'tun0\t00000000\t0100080A\t0003\t0\t0\t0\t00000080\t0\t0\t0',
    '*\t00000000\t00000000\t0201\t0\t0\t0\t00000000\t0\t0\t0',
  )
  expect(parseRoutes(text)).toBeUndefined()
  expect(parseRoutes('')).toBeUndefined()
})
