import { expect, test } from 'vitest'
import { resolveRedirect } from './http-fetch.ts'

test.each([
  ['https://a.example/x', 'https://b.example/y', 'https://b.example/y'],
  ['https://a.example/x/y', '/z', 'https://a.example/z'],
  ['http://a.example/x', 'https://b.example/y', 'https://b.example/y'],
  ['http://a.example/x', 'http://b.example/y', 'http://b.example/y'],
])('a redirect from %s to %s is followed', (from, location, target) => {
  expect(resolveRedirect(from, from, location)).toBe(target)
})

test.each(['http://b.example/y', 'file:///etc/passwd', 'data:text/plain,evil', 'https://'])(
  'a redirect from https to %s is refused',
  (location) => {
    expect(() => resolveRedirect('https://first.example/', 'https://a.example/', location)).toThrow(
      expect.objectContaining({
        code: 'FETCH_INSECURE',
        message: `https://first.example/ redirects to ${location}, which is not an https URL`,
      }),
    )
  },
)
