// As much of Telegram's Bot API as a bot needs: what it sends comes back as a message of its user.
const { createServer } = require('node:http');
const { json } = require('node:stream/consumers');

const chat = { id: 1, type: 'private', first_name: 'User' };
const me = { id: 1, is_bot: true, first_name: 'Bot', username: 'bot' };
/** @type {object[]} */
let updates = [];
let count = 0;
let waiting = () => {};

const methods = {
  getMe: () => me,
  deleteWebhook: () => true,
  async getUpdates() {
    if (updates.length === 0)
      await new Promise((resolve) => {
        waiting = resolve;
        setTimeout(resolve, 30_000);
      });
    const given = updates;
    updates = [];
    return given;
  },
  sendMessage({ text }) {
    const message = { message_id: ++count, date: 1, chat, from: chat, text };
    updates.push({ update_id: count, message });
    setTimeout(waiting, 5);
    return message;
  },
};
const server = createServer(async (request, response) => {
  const result = await methods[request.url.split('/').at(-1)](await json(request));
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ ok: true, result }));
});
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
