export const GET = () => Response.json('light');
