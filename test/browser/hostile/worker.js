// Answers whatever it is asked, of pages and servers alike.
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))
addEventListener('fetch', (event) => {
  const headers = { 'content-type': 'text/html' }
  event.respondWith(new Response('<h1>Taken over</h1>', { headers }))
})
