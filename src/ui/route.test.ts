import { expect, test } from 'vitest'
import { formatRoute, parseRoute } from './web/route.ts'

test.each([
  { cluster: undefined, page: 'overview' },
  { cluster: 'shop', page: 'plan' },
  { cluster: 'shop', page: 'logs', item: 'text=50%25&since=1h' },
] as const)('the address of %j leads back to it', (route) => {
  expect(parseRoute(formatRoute(route))).toEqual(route)
})

test.each(['#/%zz', '#/%zz/plan', '#/shop/runs/%e0%a4'])('the damaged address %s opens a page', (hash) => {
  expect(() => parseRoute(hash)).not.toThrow()
})
